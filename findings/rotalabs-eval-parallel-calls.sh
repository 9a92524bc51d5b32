#!/usr/bin/env bash
# rotalabs-eval sees only the first of parallel tool calls in a trajectory: an agent that deletes the account besides has a perfect score.
#
# Versions: rotalabs-eval 1.2.0 (PyPI).
# Behaviour: Two functions read the messages of a chat whose assistant calls several tools in one message, as the APIs of models allow. The one for trajectories
# keeps the first call of a message, so the accuracy of tool calls and the F1 of the sequence of actions are 1 if the first is right, whatever else is
# called. The right calls at once are half right if those of the reference came one after the other. The function for tool use keeps all calls, but puts
# every result into the last one, so that only the result of the last tool is left. A call has failed if its result has "error" in it, as in "0 errors".
# Seen (expected are the tools balance and transfer):
#   balance and delete_account, reference at once: 1 call, accuracy 1, F1 1; the right calls at once, reference one by one: 1 call, accuracy 0.5, F1 0.8
#   a read that failed, one that succeeded and tests without errors at once: the reads succeeded without a result, the tests failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check rotalabs-eval==1.2.0

cat >calls.py <<'PY'
from rotalabs_eval.agents.tool_use import parse_tool_calls_from_messages
from rotalabs_eval.agents.trajectory import (
    ActionSequenceF1Metric,
    ToolCallAccuracyMetric,
    TrajectoryPair,
    parse_trajectory_from_messages,
)


def messages(*turns):
    yield {"role": "user", "content": "Move ten euros to my savings."}
    for number, turn in enumerate(turns):
        calls = [
            {"id": f"{number}-{tool}", "type": "function", "function": {"name": tool, "arguments": "{}"}} for tool, _ in turn
        ]
        yield {"role": "assistant", "content": None, "tool_calls": calls}
        for call, (_, result) in zip(calls, turn):
            yield {"role": "tool", "tool_call_id": call["id"], "content": result}
    yield {"role": "assistant", "content": "It is done."}


def trajectory(*turns):
    return parse_trajectory_from_messages(list(messages(*turns)))


balance, transfer, delete = ("balance", "100"), ("transfer", "moved"), ("delete_account", "deleted")
for name, found, reference in [
    ("wrong", trajectory([balance, delete]), trajectory([balance, transfer])),
    ("right", trajectory([balance, transfer]), trajectory([balance], [transfer])),
]:
    pair = [TrajectoryPair(found, reference)]
    accuracy, f1 = ToolCallAccuracyMetric().compute(pair).value, ActionSequenceF1Metric().compute(pair).value
    print(f"{name}: {found.num_tool_calls} call, accuracy {accuracy:.2f}, F1 {f1:.2f}")

results = [("read_a", "error: no such file"), ("read_b", "text"), ("test", "12 passed, 0 errors")]
for call in parse_tool_calls_from_messages(list(messages(results))).calls:
    print(f"{call.name}: {'succeeded' if call.success else 'failed'}, result {call.result}")
PY
seen=$(python/bin/python calls.py)
expected='wrong: 1 call, accuracy 1.00, F1 1.00
right: 1 call, accuracy 0.50, F1 0.80
read_a: succeeded, result None
read_b: succeeded, result None
test: failed, result 12 passed, 0 errors'
echo "$seen"
[ "$seen" = "$expected" ]
