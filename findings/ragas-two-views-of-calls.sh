#!/usr/bin/env bash
# In ragas, a refund of 500 that was not expected is an accurate call of a tool, and an agent that rightly calls no tool has an F1 of 0.
#
# Versions: ragas 0.4.3, langchain-community 0.3.31 (PyPI); with langchain-community 0.4, ragas cannot be imported. No model is asked.
# Behaviour: ragas has two metrics that compare calls of tools with a reference. For the accuracy, the arguments of the reference are looked up in the call, and
# compared as texts: further arguments do not count, and the text "5" is the number 5. The documentation has an exact match. For F1, calls are compared as a whole: a
# further argument makes the call wrong, "5" is not 5, but true is 1. F1 is 0 if there is nothing to find, so cases that need no tool can only lower its average; the
# accuracy of such a case is 1. So the metrics give opposite verdicts of the same call, and none of them can be relied on to notice what was changed.
# Guess before the run: 1 for no call where none is expected, less than 1 for the others, with both.
# Seen (reference, call: accuracy, F1):
#   none, none: 1.0, 0.0; order 5, order 5 and amount 500: 1.0, 0.0; order 5, order "5": 1.0, 0.0; urgent 1, urgent true: 0.0, 1.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check ragas==0.4.3 langchain-community==0.3.31

cat >calls.py <<'PY'
import asyncio
import warnings

from ragas.messages import AIMessage, HumanMessage, ToolCall
from ragas.metrics.collections import ToolCallAccuracy, ToolCallF1

warnings.simplefilter("ignore")


def show(reference, called):
    expected, actual = ([ToolCall(name="refund", args=arguments)] if arguments else [] for arguments in [reference, called])
    messages = [HumanMessage(content="Refund it."), AIMessage(content="", tool_calls=actual)]
    scores = [asyncio.run(metric.ascore(messages, expected)).value for metric in [ToolCallAccuracy(), ToolCallF1()]]
    print(f"{reference}, {called}:", *scores)


show(None, None)
show({"order": 5}, {"order": 5, "amount": 500})
show({"order": 5}, {"order": "5"})
show({"urgent": 1}, {"urgent": True})
show({"order": 5}, {"order": 5})
PY
seen=$(python/bin/python calls.py 2>calls.log)
expected="None, None: 1.0 0.0
{'order': 5}, {'order': 5, 'amount': 500}: 1.0 0.0
{'order': 5}, {'order': '5'}: 1.0 0.0
{'urgent': 1}, {'urgent': True}: 0.0 1.0
{'order': 5}, {'order': 5}: 1.0 1.0"
echo "$seen"
[ "$seen" = "$expected" ]
