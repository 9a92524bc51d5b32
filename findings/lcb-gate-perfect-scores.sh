#!/usr/bin/env bash
# In lcb-gate, an agent whose scores are all 1 fails the gate for scores, and passes the gate for successes with the same runs.
#
# Versions: lcb-gate 0.2.1 (PyPI), which needs nothing else.
# Behaviour: `run_gate` and `score_gate` have the same defaults: 25 runs, a threshold of 0.9, and a confidence of 95 %. The first takes true and false, the second numbers
# from 0 to 1, and is described as the same idea for scores. Its bound for the mean has a term that depends on the number of runs alone, and is 0.36 for 25. So 25
# scores of 1 have a bound of 0.64, and no agent can pass. A threshold of 0.9 needs 88 runs. The documentation has a function for the number of runs that a
# perfect record of successes needs, and none for scores. The example of its `score_gate` passes with a mean of 0.911 and a bound of 0.803, from
# 50 runs; with this mean, the bound of 50 runs is at most 0.735. As a failure is not certain before the last run, all runs are paid for.
# Guess before the run: a perfect agent passes both.
# Seen (runs that succeed; then runs with the score 1; then those of the example):
#   run_gate: bound 0.9023, passed; score_gate: 0.6414, failed after 25 runs; 87 runs: 0.8999, failed; 88 runs: 0.9011, passed
#   50 runs with 0.911: 0.7353, failed for the threshold of 0.8
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check lcb-gate==0.2.1

cat >gates.py <<'PY'
from lcb_gate import min_trials, run_gate, score_gate


def show(name, result):
    print(f"{name}: bound {result.lcb:.4f}, {'passed' if result.passed else 'failed'} after {result.trials_run} runs")


print("min_trials:", min_trials(0.9))
show("run_gate", run_gate(lambda run: True))
show("score_gate", score_gate(lambda run: 1.0))
for runs in [87, 88]:
    show(f"score_gate, {runs}", score_gate(lambda run: 1.0, n=runs))
show("example", score_gate(lambda run: 0.911, n=50, threshold=0.8))
PY
seen=$(python/bin/python gates.py)
expected='min_trials: 25
run_gate: bound 0.9023, passed after 25 runs
score_gate: bound 0.6414, failed after 25 runs
score_gate, 87: bound 0.8999, failed after 87 runs
score_gate, 88: bound 0.9011, passed after 88 runs
example: bound 0.7353, failed after 50 runs'
echo "$seen"
[ "$seen" = "$expected" ]
