#!/usr/bin/env bash
# In agentevalkit, the same runs are a significant regression, or none, depending on whether scipy is installed.
#
# Versions: agentevalkit 0.7.0, scipy 1.17.1 (PyPI).
# Behaviour: Cases of two groups of runs are compared by Welch's t-test. scipy is an optional dependency, and the documentation has a fallback in plain Python. It takes
# the normal distribution for the t distribution, and multiplies t by 1 - 1 / (4 df), which brings it near only for large samples. Agents are run two to five times,
# and there it reports p-values of a third of what they are: of equal agents that are run three times each, one case in ten has changed at a level of 5 %. The
# interval beside it is computed with other numbers, and contains 0 where the difference is significant. So CI finds regressions that nobody sees where scipy is
# installed.
# Guess before the run: the same verdict, and one case in twenty.
# Seen (base 0.85, 0.90, 0.95, target 0.75, 0.80, 0.85; then 4000 cases with scores of one normal distribution, share with p below 0.05):
#   without scipy: regressed, p 0.022, difference -0.21 to 0.01; 2 runs: 14 %, 3 runs: 9 %, 5 runs: 8 %
#   with scipy: unchanged, p 0.070, difference -0.21 to 0.01; 2 runs: 2 %, 3 runs: 3 %, 5 runs: 4 %
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check agentevalkit==0.7.0

cat >compare.py <<'PY'
import random

from agenteval.compare import compare_runs
from agenteval.models import EvalResult, EvalRun


def group(runs):
    """Runs of cases, from the scores of the cases of each run."""
    rest = {"passed": True, "details": {}, "agent_output": "", "tools_called": [], "tokens_in": 0, "tokens_out": 0, "cost_usd": 0, "latency_ms": 0}
    results = [[EvalResult(case_name=str(number), score=score, **rest) for number, score in enumerate(scores)] for scores in runs]
    meta = {"suite": "", "agent_ref": "", "config": {}, "summary": {}, "created_at": ""}
    return [EvalRun(id=str(number), results=cases, **meta) for number, cases in enumerate(results)]


(case,) = compare_runs(group([[0.85], [0.90], [0.95]]), group([[0.75], [0.80], [0.85]])).cases
print(f"{case.status.value}, p {case.p_value:.3f}, difference {case.ci_lower:.2f} to {case.ci_upper:.2f}")
draws = random.Random(1)
for count in [2, 3, 5]:
    first, second = ([[draws.gauss(0.8, 0.1) for _ in range(4000)] for _ in range(count)] for _ in range(2))
    changed = sum(case.significant for case in compare_runs(group(first), group(second)).cases)
    print(f"{count} runs: {changed / 4000:.0%}")
PY
seen=$(python/bin/python compare.py)
python/bin/pip install --quiet --disable-pip-version-check scipy==1.17.1
seen="$seen
$(python/bin/python compare.py)"
expected='regressed, p 0.022, difference -0.21 to 0.01
2 runs: 14%
3 runs: 9%
5 runs: 8%
unchanged, p 0.070, difference -0.21 to 0.01
2 runs: 2%
3 runs: 3%
5 runs: 4%'
echo "$seen"
[ "$seen" = "$expected" ]
