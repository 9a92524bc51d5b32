#!/usr/bin/env bash
# With OpenInference, each call of Anthropic's client is two spans of a language model, and its tokens are counted twice.
#
# Versions: openinference-instrumentation-anthropic 3.1.0, anthropic 2.14.0, opentelemetry-sdk 1.45.1 (PyPI). The model is a server on loopback.
# Behaviour: The client writes spans of the conventions for generative AI by itself if a tracer provider is set; its description on PyPI does not
# mention it. The instrumentation is made for it (`anthropic >= 1.8.0`), and switches off neither these spans nor its own: each call has one inside the other, both
# with all tokens. Who adds up the tokens of a trace, or its costs, has twice the amount. Other instrumentations of the same author replace the tracer of what
# they instrument for this reason. `ANTHROPIC_OPEN_TELEMETRY=false` is a way out.
# Seen (an answer of 50 tokens for 1120):
#   anthropic.messages.create 1120 50 inside messages.create 1120 50; switched off: messages.create 1120 50
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check openinference-instrumentation-anthropic==3.1.0 anthropic==2.14.0 opentelemetry-sdk==1.45.1

cat >spans.py <<'PY'
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from anthropic import Anthropic
from openinference.instrumentation.anthropic import AnthropicInstrumentor
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

USAGE = {"input_tokens": 120, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 1000, "output_tokens": 50}
ANSWER = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": [{"type": "text", "text": "Refunded."}]}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({**ANSWER, "stop_reason": "end_turn", "stop_sequence": None, "usage": USAGE}).encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Model)
Thread(target=server.serve_forever, daemon=True).start()
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
AnthropicInstrumentor().instrument(tracer_provider=provider)

client = Anthropic(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}")
client.messages.create(model="claude-haiku-4-5", max_tokens=100, messages=[{"role": "user", "content": "Refund it."}])

spans = exporter.get_finished_spans()
assert all(inner.parent.span_id == outer.context.span_id for inner, outer in zip(spans, spans[1:]))
tokens = (("gen_ai.usage.input_tokens", "llm.token_count.prompt"), ("gen_ai.usage.output_tokens", "llm.token_count.completion"))
found = [" ".join([span.name, *(str(span.attributes.get(new) or span.attributes.get(old)) for new, old in tokens)]) for span in spans]
print(" inside ".join(found))
PY
seen="$(python/bin/python spans.py); switched off: $(ANTHROPIC_OPEN_TELEMETRY=false python/bin/python spans.py)"
echo "$seen"
[ "$seen" = 'anthropic.messages.create 1120 50 inside messages.create 1120 50; switched off: messages.create 1120 50' ]
