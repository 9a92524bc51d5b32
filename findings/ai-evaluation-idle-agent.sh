#!/usr/bin/env bash
# In ai-evaluation of Future AGI, an agent that calls none of its required tools and answers nothing is better than one that does the task.
#
# Versions: ai-evaluation 1.1.0 (PyPI).
# Behaviour: `TaskCompletion` takes an answer for the expected one if one of them is a part of the other, and the empty text is a part of every text. So
# no answer has 90 % of the points for the result, as has a single letter, and as has the expected sentence within one that denies it. An answer in
# other words has only those for the words that are equal. `ToolSelectionAccuracy` documents that it measures whether the required tools were used; it
# returns 1 if there was no call, before it looks at them. `TrajectoryScore` adds both to the efficiency, which is 1 for the single step of giving up.
# Guess before the run: 0 of the points for the result and for the tools.
# Seen (a refund that needs find_order and refund; busy calls both, the first one twice as it failed; completion, tools, trajectory):
#   idle with "": 0.85, 1.00, 0.94; idle with "o": 0.85, 1.00, 0.94; idle that denies it: 0.85, 1.00, 0.94; busy: 0.73, 0.90, 0.81
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check ai-evaluation==1.1.0

cat >idle.py <<'PY'
from fi.evals.metrics.agents.metrics import TaskCompletion, ToolSelectionAccuracy, TrajectoryScore
from fi.evals.metrics.agents.types import AgentStep, AgentTrajectoryInput, TaskDefinition, ToolCall

tools = ["find_order", "refund"]
task = TaskDefinition(description="Refund order 5.", required_tools=tools)


def call(number, tool, success=True):
    return AgentStep(step_number=number, tool_calls=[ToolCall(name=tool, arguments={"order": 5}, success=success)])


def agent(name, answer, *steps):
    last = AgentStep(step_number=len(steps) + 1, is_final=True)
    inputs = AgentTrajectoryInput(
        trajectory=[*steps, last], task=task, available_tools=tools, final_result=answer, expected_result="Order 5 was refunded."
    )
    scores = [metric().compute_one(inputs)["output"] for metric in (TaskCompletion, ToolSelectionAccuracy, TrajectoryScore)]
    print(f"{name}:", *(f"{score:.2f}" for score in scores))


agent("nothing", "")
agent("a letter", "o")
agent("denied", "It is not true that order 5 was refunded.")
agent("busy", "I have refunded the order.", call(1, "find_order", success=False), call(2, "find_order"), call(3, "refund"))
PY
seen=$(python/bin/python -W ignore idle.py)
expected='nothing: 0.85 1.00 0.94
a letter: 0.85 1.00 0.94
denied: 0.85 1.00 0.94
busy: 0.73 0.90 0.81'
echo "$seen"
[ "$seen" = "$expected" ]
