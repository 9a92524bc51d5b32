#!/usr/bin/env bash
# In entropy-ai, an agent that searches in the first half of its trials and deletes in the second one has no drift, and one that does not change has some.
#
# Versions: entropy-ai 0.1.3 (PyPI).
# Behaviour: drift_score is described as the divergence of Jensen and Shannon between the behaviours in the first half of the trials and those in the second half, and is
# one of the metrics that every evaluation has. The counts of each half are taken in the order in which the behaviours first occur there, without the
# behaviours, and are compared by place; places that only one half has are left out. So an agent that searched in the first half and deletes in the second one has the same counts,
# and no drift. One that deletes in every fourth trial has a drift if a half happens to begin with that. trajectory_drift, which has to be asked for, compares the behaviours,
# and is right. A gate of stability passes the first agent and fails the second one. The description names drift as what others do not measure.
# Guess before the run: 1 for an agent that changed, 0 for the same mixture.
# Seen (drift_score, trajectory_drift, the gate "drift_score is less than 0.1"; 40 trials):
#   searches, then deletes: 0.000, 1.000, passed; searches, then uses four other tools: 0.174, 1.000, failed; the same mixture in another order: 0.189, 0.000, failed;
#   no change: 0.000, 0.000, passed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check entropy-ai==0.1.3
cat >drift.py <<'PY'
from entropy import AgentRun, ToolCallEvent, assert_stable, evaluate


def show(name, first, second):
    tools = iter((first * 20)[:20] + (second * 20)[:20])

    def agent(question):
        tool = next(tools)
        return AgentRun(run_id="", input=question, output="done", events=[ToolCallEvent(tool, {})])

    seen = evaluate(agent, ["Where is order 7?"], trials=40, metrics=["drift_score", "trajectory_drift"])
    try:
        gate = "passed" if assert_stable(seen, drift_score__lt=0.1) else "?"
    except AssertionError:
        gate = "failed"
    print(f"{name}: {seen['drift_score']:.3f} {seen['trajectory_drift']:.3f} {gate}")


show("searches, then deletes", ["search"], ["delete"])
show("searches, then four others", ["search"], ["delete", "refund", "email", "call"])
show("the same mixture", ["search", "search", "search", "delete"], ["delete", "search", "search", "search"])
show("no change", ["search"], ["search"])
PY
seen=$(python/bin/python drift.py)
expected='searches, then deletes: 0.000 1.000 passed
searches, then four others: 0.174 1.000 failed
the same mixture: 0.189 0.000 failed
no change: 0.000 0.000 passed'
echo "$seen"
[ "$seen" = "$expected" ]
