#!/usr/bin/env bash
# costscope halts one in five jobs whose costs do not change, and half of these because they are cheaper than estimated.
#
# Versions: costscope 0.6.1 (PyPI).
# Behaviour: the cost of a job is estimated from its first 20 iterations, with a 95 % interval. Every 20 iterations, the mean of the iterations since is held against that
# interval. But the interval is one for the true mean, and the mean of 20 further iterations is as uncertain as it is, so their difference is
# 1.4 times as large as the interval allows for. With an interval of 99 %, one job in eleven is halted. With `drift_action="prompt"` and
# nobody to answer, a job stops at the first drift, as is documented, in order not to spend too much; but a mean below the interval stops it, too.
# The documentation says that the rest of such a job does not look like the sample.
# Seen (jobs of 200 iterations with normally distributed costs of 0.05 and a deviation of 0.01):
#   95 %: 89 of 400 jobs halted, 45 of them for being cheaper; 99 %: 37 of 400, 20 of them for being cheaper;
#   half the cost from iteration 21 on: all halted
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check costscope==0.6.1

cat >drift.py <<'PY'
import contextlib
import io
import random

from costscope import CostEstimator, EstimationCancelled

draws = random.Random(1)


def halted(confidence, later=1.0):
    """Whether a job is halted, and whether it was then cheaper than estimated."""
    log = io.StringIO()
    with contextlib.redirect_stderr(log), contextlib.redirect_stdout(io.StringIO()):
        options = {"sample_size": 20, "confidence": confidence, "auto_confirm": True, "drift_action": "prompt"}
        with CostEstimator("any", total_iterations=200, **options) as job:
            try:
                for number in range(200):
                    job.record(draws.gauss(0.05, 0.01) * (later if number >= 20 else 1))
            except EstimationCancelled:
                return "below" if "is below" in log.getvalue() else "above"


for name, confidence, later in [("95 %", 0.95, 1.0), ("99 %", 0.99, 1.0), ("95 %, half the cost from iteration 21 on", 0.95, 0.5)]:
    results = [halted(confidence, later) for _ in range(400)]
    above, below = results.count("above"), results.count("below")
    print(f"{name}: {above + below} of 400 halted, {below} of them for being cheaper")
PY
seen=$(python/bin/python drift.py </dev/null)
expected='95 %: 89 of 400 halted, 45 of them for being cheaper
99 %: 37 of 400 halted, 20 of them for being cheaper
95 %, half the cost from iteration 21 on: 400 of 400 halted, 400 of them for being cheaper'
echo "$seen"
[ "$seen" = "$expected" ]
