#!/usr/bin/env bash
# In agent-belt, an agent that always solves the same half of the tasks has a mean pass^8 of 0.4 %, and a mean pass@8 of 99.6 %: those of one that flips a coin at each task.
#
# Versions: agent-belt 0.2.1 (PyPI).
# Behaviour: The description names repeated trials of a scenario as one of three distinctive things, to measure reliability instead of luck. For each scenario, pass@k is the probability that one of
# k trials passes, and pass^k that all of them do. The mean over the scenarios, which is what the terminal and the report show, is not the mean of these values. It is computed from the mean pass
# rate, as if all scenarios had that one. So it does not depend on whether an agent is reliable, which is what it is for: the reliable agent, the lucky one and all between them
# that have the same pass rate have the same numbers. pass@8 is far too good for an agent that never solves some tasks, pass^8 far too bad for one that always solves most.
# Guess before the run: 50 % for both with the reliable agent, as each of its tasks has 100 % or 0 %.
# Seen (ten scenarios with eight trials each; mean pass@8 and pass^8 of the result, then the means of its scenarios):
#   five always and five never: 99.6 %, 0.4 %, means 50 %, 50 %; each in half of the trials: 99.6 %, 0.4 %, means 99.6 %, 0.4 %; nine always and one never: 100 %, 43.0 %, means 90 %, 90 %
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check agent-belt==0.2.1

cat >reliability.py <<'PY'
from statistics import fmean

from belt import ScenarioScore
from belt.aggregator.stats import compute_reliability


def show(name, passes):
    scores = []
    for number, passed in enumerate(passes):
        for trial in range(8):
            scores.append(ScenarioScore(scenario_name=f"task-{number}__trial_{trial}", group="shop", overall_pass=trial < passed))
    found = compute_reliability(scores)
    means = {key: fmean(scenario[key] for scenario in found["scenarios"]) for key in ("pass_at_8", "pass_pow_8")}
    print(
        f"{name}: mean pass@8 {found['mean_pass_at_8']:.1%}, pass^8 {found['mean_pass_pow_8']:.1%},",
        f"means of the scenarios {means['pass_at_8']:.1%}, {means['pass_pow_8']:.1%}",
    )


show("five always, five never", [8] * 5 + [0] * 5)
show("each in half of the trials", [4] * 10)
show("nine always, one never", [8] * 9 + [0])
PY
seen=$(python/bin/python reliability.py)
expected='five always, five never: mean pass@8 99.6%, pass^8 0.4%, means of the scenarios 50.0%, 50.0%
each in half of the trials: mean pass@8 99.6%, pass^8 0.4%, means of the scenarios 99.6%, 0.4%
nine always, one never: mean pass@8 100.0%, pass^8 43.0%, means of the scenarios 90.0%, 90.0%'
echo "$seen"
[ "$seen" = "$expected" ]
