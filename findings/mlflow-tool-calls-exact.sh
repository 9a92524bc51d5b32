#!/usr/bin/env bash
# In MLflow, an exact match of tool calls passes a payment of 5000 instead of 50, if any other expected call is given without arguments.
#
# Versions: mlflow-skinny 3.17.2 (PyPI).
# Behaviour: With `should_exact_match`, `ToolCallCorrectness` compares names and arguments of tools directly, says the documentation. Arguments of an expected call may
# be left out, which is described as checking only the name of that tool. But then the arguments of no call are compared, those that are given included, and the
# rationale is that all tool calls match. Without an order, the calls are compared as sets, as the description says, though their number has to be
# right: to search once and book twice is the same as to search twice and book once. That no tool is called cannot be expected: an empty list is an
# error, as if nothing were expected.
# Seen (the expected calls, then those of the agent):
#   pay 50 and notify with arguments, given pay 5000: no; pay 50 and notify without arguments, given pay 5000: yes, in order: yes;
#   search, search, book, given search, book, book: yes; none, given delete: MlflowException
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check mlflow-skinny==3.17.2

cat >calls.py <<'PY'
import mlflow
from mlflow.exceptions import MlflowException
from mlflow.genai.scorers import ToolCallCorrectness


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def verdict(name, expected, made, **options):
    with mlflow.start_span("agent") as agent:
        agent.set_inputs({"request": "Pay the invoice."})
        for one in made:
            with mlflow.start_span(one["name"], span_type="TOOL") as tool:
                tool.set_inputs(one["arguments"])
    trace = mlflow.get_trace(mlflow.get_last_active_trace_id())
    scorer = ToolCallCorrectness(should_exact_match=True, **options)
    try:
        found = str(scorer(trace=trace, expectations={"expected_tool_calls": expected}).value)
    except MlflowException as error:
        found = type(error).__name__
    print(f"{name}: {found}", end="; ")


pay, notify = call("pay", amount=50), call("notify", to="sales")
made = [call("pay", amount=5000), notify]
verdict("all arguments", [pay, notify], made)
verdict("notify without", [pay, {"name": "notify"}], made)
verdict("in order", [pay, {"name": "notify"}], made, should_consider_ordering=True)
search, book = call("search", to="Rome"), call("book", flight=7)
verdict("book twice", [search, search, book], [search, book, book])
verdict("no call", [], [call("delete", file="a")])
PY
export MLFLOW_ENABLE_ASYNC_TRACE_LOGGING=false MLFLOW_ALLOW_FILE_STORE=true MLFLOW_TRACKING_URI="file:$folder/runs" MLFLOW_DISABLE_TELEMETRY=true
seen=$(python/bin/python calls.py 2>errors.log)
echo "$seen"
[ "$seen" = 'all arguments: no; notify without: yes; in order: yes; book twice: yes; no call: MlflowException; ' ]
