#!/usr/bin/env bash
# In Ragas, calls of tools get less if their order does not matter.
#
# Versions: ragas 0.4.3, langchain-community 0.3.31 (PyPI); with langchain-community 0.4, ragas cannot be imported.
# Behaviour: `strict_order=False` is for calls that may be in any order, and the score is the share of the arguments that are right. To compare the calls
# without their order, both lists are sorted by name and arguments, and then compared one by one. One wrong argument that sorts to another place
# pairs every call with the wrong one. Two bookings in the expected order, one of them for another day, are 0.75 in strict order, and 0 without it.
# Seen:
#   strict 0.75, flexible 0.0; all right: strict 1.0, flexible 1.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check ragas==0.4.3 langchain-community==0.3.31

seen=$(python/bin/python -W ignore - <<'PY'
import asyncio

from ragas.messages import AIMessage, HumanMessage, ToolCall
from ragas.metrics.collections import ToolCallAccuracy

expected = [ToolCall(name="book", args={"day": 1, "seats": 2}), ToolCall(name="book", args={"day": 4, "seats": 3})]
other_day = [ToolCall(name="book", args={"day": 5, "seats": 2}), expected[1]]
for name, calls in [("other day", other_day), ("all right", expected)]:
    messages = [HumanMessage(content="Book both tours."), AIMessage(content="", tool_calls=calls)]
    scores = [asyncio.run(ToolCallAccuracy(strict_order=strict).ascore(messages, expected)).value for strict in (True, False)]
    print(f"{name}: strict {scores[0]}, flexible {scores[1]}", end="; ")
PY
)
echo "$seen"
[ "$seen" = 'other day: strict 0.75, flexible 0.0; all right: strict 1.0, flexible 1.0; ' ]
