#!/usr/bin/env bash
# In the traces of OpenLLMetry, a model that refuses in a stream has answered nothing, and has not reasoned.
#
# Versions: opentelemetry-instrumentation-openai 0.62.4, opentelemetry-sdk 1.45.2, openai 2.54.0, httpx 0.28.1 (PyPI). The API is a function that httpx calls.
# Behaviour: The API of OpenAI sends a refusal in a field of its own, beside the content. If the answer comes in one piece, the trace has a part of type refusal with the
# text, and the number of tokens that were spent on reasoning. If the same answer is streamed, the chunks with the refusal are dropped, so the message is an empty
# text with the finish reason "stop", and the number of reasoning tokens is missing, though the last chunk has it, together with the other numbers, which are
# there. In a trace, a model that declines to answer looks like one that broke down, and evaluations of traces see no refusal. Streamed calls of tools get an empty
# text, too, which was not sent.
# Guess before the run: the same messages and tokens in both cases.
# Seen (messages in the trace; input, output and reasoning tokens, which were 10, 7 and 5):
#   refusal: in one piece: refusal "I cannot help.", 10, 7, 5; streamed: text "", 10, 7, none;
#   call of a tool: in one piece: the call, 10, 7, 5; streamed: text "", the call, 10, 7, none
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check opentelemetry-instrumentation-openai==0.62.4 openai==2.54.0 httpx==0.28.1 opentelemetry-sdk==1.45.2

cat >refusals.py <<'PY'
import json

import httpx
from openai import OpenAI
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

CALL = {"index": 0, "id": "1", "type": "function", "function": {"name": "refund", "arguments": "{}"}}
USAGE = {"prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17, "completion_tokens_details": {"reasoning_tokens": 5}}


def api(request):
    """Refuse, or call a tool, in one piece or as a stream of two parts, the finish reason and the usage."""
    body = json.loads(request.content)
    answer = {"id": "1", "created": 1, "model": "gpt-5"}
    if body["messages"][0]["content"] == "refuse":
        parts, whole, finish = [{"refusal": "I cannot"}, {"refusal": " help."}], {"refusal": "I cannot help.", "content": None}, "stop"
    else:
        parts, whole, finish = [{"tool_calls": [CALL]}], {"tool_calls": [CALL], "content": None}, "tool_calls"
    if not body.get("stream"):
        choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **whole}}
        return httpx.Response(200, json={**answer, "object": "chat.completion", "choices": [choice], "usage": USAGE})
    deltas = [({"role": "assistant"}, None), *((part, None) for part in parts), ({}, finish)]
    choices = [[{"index": 0, "delta": delta, "finish_reason": reason}] for delta, reason in deltas]
    chunks = [{**answer, "object": "chat.completion.chunk", "choices": choice} for choice in choices]
    chunks.append({**answer, "object": "chat.completion.chunk", "choices": [], "usage": USAGE})
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=f"{text}data: [DONE]\n\n")


spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
OpenAIInstrumentor().instrument(tracer_provider=provider)
client = OpenAI(api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(api)))
for text in ["refuse", "call"]:
    for options in [{}, {"stream": True, "stream_options": {"include_usage": True}}]:
        answer = client.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": text}], **options)
        if options:
            list(answer)
        (span,) = spans.get_finished_spans()
        spans.clear()
        parts = json.loads(span.attributes["gen_ai.output.messages"])[0]["parts"]
        shown = [f"{part['type']} {part.get('content', part.get('name'))!r}" for part in parts]
        tokens = [span.attributes.get(f"gen_ai.usage.{kind}_tokens") for kind in ["input", "output", "reasoning"]]
        print(f"{text}, {'streamed' if options else 'in one piece'}: {', '.join(shown)}; {tokens}")
PY
seen=$(TRACELOOP_TELEMETRY=false python/bin/python refusals.py)
expected="refuse, in one piece: refusal 'I cannot help.'; [10, 7, 5]
refuse, streamed: text ''; [10, 7, None]
call, in one piece: tool_call 'refund'; [10, 7, 5]
call, streamed: text '', tool_call 'refund'; [10, 7, None]"
echo "$seen"
[ "$seen" = "$expected" ]
