#!/usr/bin/env bash
# The attribute with the arguments of a tool does not hold its arguments, but what a callback of LangChain was given.
#
# Versions: opentelemetry-instrumentation-langchain 0.62.4, langchain-core 1.8.3, opentelemetry-sdk 1.45.2 (PyPI).
# Behaviour: OpenTelemetry's conventions describe gen_ai.tool.call.arguments as the parameters of the call, as an object. The span
# has an object with `input_str`, `inputs`, tags and metadata; `input_str` is the arguments as Python prints them, which is not JSON. In the same way,
# gen_ai.tool.call.result is a serialized message, or the result in a key `output`.
# The same package writes the arguments as an object in gen_ai.output.messages, so a reader sees two calls with different arguments.
# Seen:
#   arguments: input_str, inputs, kwargs, metadata, tags; input_str: {'zone': 'Lima'}; result: kwargs, output
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check opentelemetry-instrumentation-langchain==0.62.4 langchain-core==1.8.3 opentelemetry-sdk==1.45.2

seen=$(python/bin/python -W ignore - <<'PY'
import json
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.instrumentation.langchain import LangchainInstrumentor
from langchain_core.tools import tool

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
LangchainInstrumentor().instrument()


@tool
def clock(zone: str) -> str:
    "Tells the time."
    return f"12:30 in {zone}"


clock.invoke({"zone": "Lima"})
[attributes] = [span.attributes for span in exporter.get_finished_spans() if "gen_ai.tool.name" in span.attributes]
arguments = json.loads(attributes["gen_ai.tool.call.arguments"])
result = json.loads(attributes["gen_ai.tool.call.result"])
print(f"arguments: {', '.join(sorted(arguments))}; input_str: {arguments['input_str']}; result: {', '.join(sorted(result))}")
PY
)
echo "$seen"
[ "$seen" = "arguments: input_str, inputs, kwargs, metadata, tags; input_str: {'zone': 'Lima'}; result: kwargs, output" ]
