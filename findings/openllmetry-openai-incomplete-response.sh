#!/usr/bin/env bash
# In OpenLLMetry, a call of the Responses API that reached its limit of tokens, or failed, is missing in the trace.
#
# Versions: opentelemetry-instrumentation-openai 0.62.4, opentelemetry-sdk 1.45.2, openai 2.54.0, httpx 0.28.1 (PyPI). The API is a function that httpx calls.
# Behaviour: A response of OpenAI's Responses API has a status. The instrumentation ends the span of a call if the status is completed, as a response may be polled for.
# "incomplete" and "failed" are final as well: the answer was cut off at the limit of tokens, or the model had an error, and both are paid for. Their spans are never
# ended and never exported, so the trace has neither the call nor its tokens, and the costs and the rate of errors that are computed from it are too low. A
# response that consists of a refusal has a span, but no message. For the chat API, answers that were cut off and refusals in one piece are in the trace.
# Guess before the run: a span for each call, with the reason why it ended.
# Seen (spans, input and output tokens, messages in the trace):
#   completed: 1, 10 and 7, Hello; incomplete: 0; failed: 0; refusal: 1, 10 and 7, no message;
#   all four calls: 20 of 40 input tokens
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check opentelemetry-instrumentation-openai==0.62.4 openai==2.54.0 httpx==0.28.1 opentelemetry-sdk==1.45.2

cat >responses.py <<'PY'
import json

import httpx
from openai import OpenAI
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

USAGE = {"input_tokens": 10, "output_tokens": 7, "total_tokens": 17}
DETAILS = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 5}}
TEXT = {"type": "output_text", "text": "Hello", "annotations": []}
KINDS = {
    "completed": {"status": "completed"},
    "incomplete": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
    "failed": {"status": "failed", "error": {"code": "server_error", "message": "internal error"}},
    "refusal": {"status": "completed"},
}


def api(request):
    kind = json.loads(request.content)["input"]
    content = {"type": "refusal", "refusal": "I cannot help."} if kind == "refusal" else TEXT
    status = "incomplete" if kind == "incomplete" else "completed"
    message = {"type": "message", "id": "1", "role": "assistant", "status": status, "content": [content]}
    response = {"id": f"resp_{kind}", "object": "response", "created_at": 1, "model": "gpt-5", "usage": {**USAGE, **DETAILS}, **KINDS[kind]}
    return httpx.Response(200, json={**response, "output": [] if kind == "failed" else [message]})


spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
OpenAIInstrumentor().instrument(tracer_provider=provider)
client = OpenAI(api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(api)))
for kind in KINDS:
    response = client.responses.create(model="gpt-5", input=kind)
    assert response.status == KINDS[kind]["status"]
provider.force_flush()
for span in spans.get_finished_spans():
    messages = json.loads(span.attributes["gen_ai.output.messages"])
    tokens = [span.attributes[f"gen_ai.usage.{side}_tokens"] for side in ["input", "output"]]
    print(span.attributes["gen_ai.response.id"], tokens, [part["content"] for message in messages for part in message["parts"]])
PY
seen=$(TRACELOOP_TELEMETRY=false python/bin/python responses.py)
expected="resp_completed [10, 7] ['Hello']
resp_refusal [10, 7] []"
echo "$seen"
[ "$seen" = "$expected" ]
