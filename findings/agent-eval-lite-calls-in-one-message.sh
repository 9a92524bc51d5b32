#!/usr/bin/env bash
# In agent-eval-lite, an agent that books twice in one message has booked at most once, and its two different calls are one call too many.
#
# Versions: agent-eval-lite 0.5.1 (PyPI), which needs nothing else.
# Behaviour: `assert_tool_called` limits how often a tool was called by `min_times` and `max_times`. It counts the messages in which the tool occurs. Models that call tools in
# parallel send several calls in one message, in the format of OpenAI, which the package reads. So two bookings in one message pass a limit of one,
# and three searches at once are fewer than two. With `args`, only the first call of a tool in each message is compared. `assert_tool_call_efficiency` looks at the
# names of all calls, and at the arguments of the first one of each name, so that calls for different cities are repetitions of one call. `assert_tool_not_called` and the order
# of calls see all of them. The description speaks of times, and not of messages.
# Guess before the run: a failure for two bookings in both cases, and no repetition of calls that differ.
# Seen (two bookings, of room 1 and room 2, in one message, then in two):
#   one message: at most once: passes, at least twice: fails, room 2: fails, no repeated call: fails; two messages: fails, passes, passes, passes
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check agent-eval-lite==0.5.1

cat >booking.py <<'PY'
import json

from agent_eval import EvalFailure, Trace, assert_tool_call_efficiency, assert_tool_called


def call(room):
    return {"id": f"call {room}", "type": "function", "function": {"name": "book", "arguments": json.dumps({"room": room})}}


def says(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def outcome(check, *args, **kwargs):
    try:
        check(*args, **kwargs)
        return "passes"
    except EvalFailure:
        return "fails"


for name, messages in (("one message", [says(call(1), call(2))]), ("two messages", [says(call(1)), says(call(2))])):
    trace = Trace.from_messages([{"role": "user", "content": "Book a room."}, *messages, {"role": "assistant", "content": "Done."}])
    print(f"{name}: calls {trace.all_tool_names}", end="; ")
    print("at most once:", outcome(assert_tool_called, trace, "book", max_times=1), end="; ")
    print("at least twice:", outcome(assert_tool_called, trace, "book", min_times=2), end="; ")
    print("room 2:", outcome(assert_tool_called, trace, "book", args={"room": 2}), end="; ")
    print("no repeated call:", outcome(assert_tool_call_efficiency, trace, max_redundant=0))
PY
seen=$(python/bin/python booking.py)
expected="one message: calls ['book', 'book']; at most once: passes; at least twice: fails; room 2: fails; no repeated call: fails
two messages: calls ['book', 'book']; at most once: fails; at least twice: passes; room 2: passes; no repeated call: passes"
echo "$seen"
[ "$seen" = "$expected" ]
