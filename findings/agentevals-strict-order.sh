#!/usr/bin/env bash
# The strict trajectory match of agentevals ignores the order of parallel calls, the answer, and the difference of 1 and true.
#
# Versions: agentevals 0.0.9 (PyPI).
# Behaviour: `strict` compares messages one by one: their roles and, in each, the tool calls as a set. Two calls in one message match in any
# order. The text of the final answer is not compared. Arguments are compared as Python values, in which 1, 1.0 and True are equal. But the
# same two calls in two messages instead of one do not match, while `unordered` matches them.
# Seen:
#   swapped calls True, other answer True, 1 for true True, two messages False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check agentevals==0.0.9

seen=$(python/bin/python - <<'PY'
from agentevals.trajectory.match import create_trajectory_match_evaluator

strict = create_trajectory_match_evaluator(trajectory_match_mode="strict")


def call(name, arguments):
    return {"function": {"name": name, "arguments": arguments}}


def trajectory(*messages, answer="done"):
    calls = [{"role": "assistant", "content": "", "tool_calls": list(message)} for message in messages]
    return [{"role": "user", "content": "move 5"}, *calls, {"role": "assistant", "content": answer}]


withdraw, deposit = call("withdraw", '{"amount": 5}'), call("deposit", '{"amount": 5}')
reference = trajectory([withdraw, deposit])
for name, outputs, expected in [
    ("swapped calls", trajectory([deposit, withdraw]), reference),
    ("other answer", trajectory([withdraw, deposit], answer="I could not do it"), reference),
    ("1 for true", trajectory([call("set", '{"on": 1}')]), trajectory([call("set", '{"on": true}')])),
    ("two messages", trajectory([withdraw], [deposit]), reference),
]:
    print(name, strict(outputs=outputs, reference_outputs=expected)["score"], end="; ")
PY
)
expected='swapped calls True; other answer True; 1 for true True; two messages False; '
echo "$seen"
[ "$seen" = "$expected" ]
