#!/usr/bin/env bash
# OpenLLMetry counts more output tokens for an answer of Claude that is streamed than for the same answer in one piece.
#
# Versions: opentelemetry-instrumentation-anthropic 0.62.4, anthropic 2.14.0, opentelemetry-sdk 1.45.1 (PyPI). The model is a server on loopback.
# Behaviour: The first event of a stream has the output tokens so far, and the last the output tokens of the whole answer: Anthropic's documentation says
# that the counts of `message_delta` are cumulative, and its client replaces the first by the last. The instrumentation adds them. The
# input tokens, which are in both events as well, are not added. So streamed calls have a few tokens too many each, and their costs cannot be compared
# with those of calls that are not streamed.
# Seen (3 tokens in the first event, 50 in the last):
#   in one piece: client 50, span 50; streamed: client 50, span 53
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check opentelemetry-instrumentation-anthropic==0.62.4 anthropic==2.14.0 opentelemetry-sdk==1.45.1

cat >tokens.py <<'PY'
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from anthropic import Anthropic
from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "stop_reason": None, "stop_sequence": None}
TEXT = {"type": "text", "text": "Refunded."}
END = {"stop_reason": "end_turn", "stop_sequence": None}
EVENTS = [
    {"type": "message_start", "message": {**MESSAGE, "content": [], "usage": {"input_tokens": 120, "output_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Refunded."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": END, "usage": {"input_tokens": 120, "output_tokens": 50}},
    {"type": "message_stop"},
]


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        streamed = json.loads(self.rfile.read(int(self.headers["Content-Length"]))).get("stream")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.end_headers()
        if streamed:
            body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in EVENTS)
        else:
            body = json.dumps({**MESSAGE, **END, "content": [TEXT], "usage": EVENTS[4]["usage"]})
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Model)
Thread(target=server.serve_forever, daemon=True).start()
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
AnthropicInstrumentor().instrument(tracer_provider=provider)

client = Anthropic(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}")
request = {"model": "claude-haiku-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Refund it."}]}
whole = client.messages.create(**request)
with client.messages.stream(**request) as stream:
    streamed = stream.get_final_message()
for name, message, span in zip(("in one piece", "streamed"), (whole, streamed), exporter.get_finished_spans(), strict=True):
    assert span.attributes["gen_ai.usage.input_tokens"] == 120
    print(f"{name}: client {message.usage.output_tokens}, span {span.attributes['gen_ai.usage.output_tokens']}", end="; ")
PY
seen=$(python/bin/python tokens.py)
echo "$seen"
[ "$seen" = 'in one piece: client 50, span 50; streamed: client 50, span 53; ' ]
