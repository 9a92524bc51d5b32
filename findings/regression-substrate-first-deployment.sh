#!/usr/bin/env bash
# In regression-substrate, the first deployment after a new baseline raises no alarm, however bad it is.
#
# Versions: regression-substrate 0.3.0, numpy 2.4.6 (PyPI).
# Behaviour: `SequentialGate` watches the scores of each deployment, and raises an alarm if they speak against the baseline, with a bound for false alarms over all
# deployments. It bets against the baseline, with a stake that it takes from the scores so far. The stake is set once per deployment, before its scores are
# seen, and without earlier scores it is 0. So a first deployment of which all answers are wrong is no evidence, and so is each first one after `reset_baseline`,
# which is when something was changed. Given one by one, the same scores raise the alarm at the seventh. After a broken deployment, the stake is so high that
# the healthy one that mends it loses the capital, and a hundred wrong answers raise no alarm, where twenty do otherwise.
# Guess before the run: an alarm for a thousand wrong answers in any deployment.
# Seen (baseline 0.9; wrong and healthy are deployments of 1000 answers, healthy with 900 right ones; number of the deployment that raises an alarm):
#   wrong: none; new baseline, wrong: none; healthy, wrong: 2; wrong, one by one: 7;
#   healthy, 20 wrong: 2; wrong, healthy, 20 wrong: none; wrong, healthy, 100 wrong: none
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check regression-substrate==0.3.0 numpy==2.4.6

cat >deployments.py <<'PY'
import numpy
from regression_substrate.sequential_gate import SequentialGate

WRONG = numpy.zeros(1000)
HEALTHY = numpy.tile([1.0] * 9 + [0.0], 100)


def show(label, *deployments, reset=False):
    gate = SequentialGate({"answers": 0.9})
    if reset:
        gate.ingest("answers", HEALTHY, "before")
        gate.reset_baseline({"answers": 0.9}, "new prompt")
    alarms = [gate.ingest("answers", scores, str(number)) for number, scores in enumerate(deployments)]
    first = alarms.index(True) + 1 if True in alarms else None
    print(f"{label}: {first}")


show("wrong", WRONG)
show("new baseline, wrong", WRONG, reset=True)
show("healthy, wrong", HEALTHY, WRONG)
show("wrong, one by one", *numpy.split(WRONG, 1000))
show("healthy, 20 wrong", HEALTHY, WRONG[:20])
show("wrong, healthy, 20 wrong", WRONG, HEALTHY, WRONG[:20])
show("wrong, healthy, 100 wrong", WRONG, HEALTHY, WRONG[:100])
PY
seen=$(python/bin/python deployments.py)
expected='wrong: None
new baseline, wrong: None
healthy, wrong: 2
wrong, one by one: 7
healthy, 20 wrong: 2
wrong, healthy, 20 wrong: None
wrong, healthy, 100 wrong: None'
echo "$seen"
[ "$seen" = "$expected" ]
