#!/usr/bin/env bash
# In UiPath's evaluators, an exact match of arguments passes a call with further arguments, and each list is what was expected where an empty one was.
#
# Versions: uipath 2.14.44 (PyPI).
# Behaviour: The documentation of `ToolCallArgsEvaluator` has exact matching of arguments as the default, and `subset` as the mode that allows further ones. Both
# look only at the expected arguments, so `subset` changes nothing: an agent that deletes recursively and by force has deleted exactly as expected, in the
# strict mode, too. In `JsonSimilarityEvaluator`, whose documentation has lists compared by position, items after the last expected one do not
# count. So an empty list as the expected value, such as that no booking is made, has no leaves, and any list is a perfect match.
# Seen (expected, then that of the agent):
#   delete a file, delete a file recursively and by force: subset 1.0, exact 1.0, exact and strict 1.0; another file: exact 0.0;
#   no bookings, two bookings: 1.0; one id, three ids: 1.0; one id, another id first: 0.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check uipath==2.14.44

cat >scores.py <<'PY'
import asyncio
import json

from opentelemetry.sdk.trace import ReadableSpan
from uipath.eval.evaluators import JsonSimilarityEvaluator, ToolCallArgsEvaluator
from uipath.eval.models import WorkloadExecution


def score(evaluator, options, criteria, output, calls=()):
    spans = [ReadableSpan(name=name, attributes={"tool.name": name, "input.value": json.dumps(arguments)}) for name, arguments in calls]
    execution = WorkloadExecution(agent_input={}, workload_output=output, workload_trace=spans)
    made = evaluator.model_validate({"id": "evaluator", "evaluatorConfig": {"name": "evaluator", **options}})
    return asyncio.run(made.validate_and_evaluate_criteria(execution, criteria)).score


expected = {"tool_calls": [{"name": "delete", "args": {"path": "a.txt"}}]}
for name, options, arguments in [
    ("subset", {"subset": True}, {"path": "a.txt", "recursive": True, "force": True}),
    ("exact", {"subset": False}, {"path": "a.txt", "recursive": True, "force": True}),
    ("strict", {"subset": False, "strict": True}, {"path": "a.txt", "recursive": True, "force": True}),
    ("another file", {"subset": False}, {"path": "b.txt"}),
]:
    print(f"{name} {score(ToolCallArgsEvaluator, options, expected, {}, [('delete', arguments)])}", end="; ")
for name, wanted, output in [
    ("no bookings", {"bookings": []}, {"bookings": ["Rome", "Oslo"]}),
    ("one id", {"ids": ["7"]}, {"ids": ["7", "8", "9"]}),
    ("another id", {"ids": ["7"]}, {"ids": ["8", "7"]}),
]:
    print(f"{name} {score(JsonSimilarityEvaluator, {}, {'expectedOutput': wanted}, output)}", end="; ")
PY
seen=$(python/bin/python -W ignore scores.py 2>errors.log)
echo "$seen"
[ "$seen" = 'subset 1.0; exact 1.0; strict 1.0; another file 0.0; no bookings 1.0; one id 1.0; another id 0.0; ' ]
