#!/usr/bin/env bash
# A streamed response that reached its limit of tokens has no tokens in OpenInference, no output, and the status OK.
#
# Versions: openinference-instrumentation-openai 0.1.66, openinference-instrumentation 0.1.72, openai 3.57.0, opentelemetry-sdk 1.45.2 (PyPI). A local
# server takes the place of the API.
# Behaviour: A stream of the Responses API ends with one of three events: completed, incomplete or failed. All of them have the whole response with its
# usage. The instrumentation keeps only the event of a completed response. So a response that was cut off at `max_output_tokens`, for which all tokens
# are paid, costs nothing in the trace, and what the model has said is not there. The same response in one piece has all of it. The instrumentation of
# the same project for LiteLLM looks at all three events.
# Guess before the run: the same tokens with and without the stream.
# Seen (20,000 tokens of input and 4,000 of output; tokens and output in the span):
#   completed: 24000, yes; completed and streamed: 24000, yes; incomplete: 24000, yes; incomplete and streamed: None, no
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check openinference-instrumentation-openai==0.1.66 openinference-instrumentation==0.1.72 \
  openai==3.57.0 opentelemetry-sdk==1.45.2

cat >incomplete.py <<'PY'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import OpenAI
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


def response(limit):
    status = "completed" if limit > 4000 else "incomplete"
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5-mini", "status": status, "error": None,
        "incomplete_details": None if status == "completed" else {"reason": "max_output_tokens"},
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "output": [{
            "id": "msg_1", "type": "message", "role": "assistant", "status": status,
            "content": [{"type": "output_text", "text": "The refund", "annotations": []}],
        }],
        "usage": {
            "input_tokens": 20000, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 4000, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 24000,
        },
    }


class Server(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        whole = response(request["max_output_tokens"])
        events = [
            {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}},
            {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "The refund", "logprobs": []},
            {"type": f"response.{whole['status']}", "response": whole},
        ]
        stream = "".join(f"event: {e['type']}\ndata: {json.dumps({**e, 'sequence_number': i})}\n\n" for i, e in enumerate(events))
        text, kind = (stream, "text/event-stream") if request.get("stream") else (json.dumps(whole), "application/json")
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
OpenAIInstrumentor().instrument(tracer_provider=provider)
client = OpenAI(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
for limit in (5000, 4000):
    for stream in (False, True):
        answer = client.responses.create(model="gpt-5-mini", input="Refund?", max_output_tokens=limit, stream=stream)
        if stream:
            answer = list(answer)[-1].response
        span = spans.get_finished_spans()[-1]
        tokens = span.attributes.get("llm.token_count.total")
        output = "output" if "output.value" in span.attributes else "no output"
        print(answer.status, "streamed:" if stream else "whole:", answer.usage.total_tokens, tokens, output, span.status.status_code.name)
PY
seen=$(python/bin/python incomplete.py)
expected='completed whole: 24000 24000 output OK
completed streamed: 24000 24000 output OK
incomplete whole: 24000 24000 output OK
incomplete streamed: 24000 None no output OK'
echo "$seen"
[ "$seen" = "$expected" ]
