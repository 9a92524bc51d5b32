#!/usr/bin/env bash
# In wattage, a prompt that Claude read from its cache costs ten times too much if OpenLLMetry wrote the trace, and more than one that was not cached.
#
# Versions: wattage 0.2.0, opentelemetry-instrumentation-anthropic 0.62.4, anthropic 2.14.0, opentelemetry-sdk and -exporter-otlp-proto-common 1.45.1 (PyPI). The model is a server on loopback.
# Behaviour: Anthropic counts tokens that were read from its cache, or written to it, apart from the other input tokens. The conventions of OpenTelemetry ask for their sum as
# `gen_ai.usage.input_tokens`, with the parts in attributes of their own, and OpenLLMetry does so. wattage reads these attributes, and takes the input tokens of Anthropic for those without the
# cache, as in the API. So cached tokens are paid at the full price, and at that of the cache in addition. It subtracts them for OpenAI, and for traces of OpenInference. The report has no
# warning, and its tokens add up to twice the prompt. So a budget in CI fails an agent for using the cache, though the tool is to find prompts that are not cached.
# Guess before the run: what the prices of the package give: 3 dollars for a million input tokens, 0.3 read from the cache, 3.75 written to it, 15 for output.
# Seen (a prompt of 100,500 tokens, of which 100,000 can be cached, and 100 tokens of output; the right cost, the report):
#   not cached: 0.3030, 0.3030; read: 0.0330, 0.3330; written: 0.3780, 0.6780
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check wattage==0.2.0 opentelemetry-instrumentation-anthropic==0.62.4 anthropic==2.14.0 \
  opentelemetry-sdk==1.45.1 opentelemetry-exporter-otlp-proto-common==1.45.1

cat >traces.py <<'PY'
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from anthropic import Anthropic
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

USAGE = {"none": (100_500, 0, 0), "read": (500, 100_000, 0), "written": (500, 0, 100_000)}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][0]["content"]
        others, read, written = USAGE[question]
        usage = {"input_tokens": others, "cache_read_input_tokens": read, "cache_creation_input_tokens": written, "output_tokens": 100}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn", "stop_sequence": None}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({**message, "content": [{"type": "text", "text": "Refunded."}], "usage": usage}).encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Model)
Thread(target=server.serve_forever, daemon=True).start()
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
AnthropicInstrumentor().instrument(tracer_provider=provider)
client = Anthropic(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}")
for name, (others, read, written) in USAGE.items():
    client.messages.create(model="claude-sonnet-4-5", max_tokens=100, messages=[{"role": "user", "content": name}])
    with open(f"{name}.json", "w") as file:
        json.dump(MessageToDict(encode_spans(exporter.get_finished_spans())), file)
    exporter.clear()
    with open(f"{name}.txt", "w") as file:
        file.write(f"{(others * 3 + read * 0.3 + written * 3.75 + 100 * 15) / 1e6:.4f}")
PY
python/bin/python traces.py
seen=$(
  for name in none read written; do
    python/bin/wattage report "$name.json" --json >report.json
    python3 - "$name" <<'PY'
import json
import sys

report = json.load(open("report.json"))
tokens = report["token_breakdown"]
prompt = tokens["input"] + tokens["cache_read"] + tokens["cache_creation"]
print(f"{sys.argv[1]}: right {open(sys.argv[1] + '.txt').read()}, reported {report['total_dollars']:.4f}, a prompt of {prompt} tokens")
PY
  done
)
expected='none: right 0.3030, reported 0.3030, a prompt of 100500 tokens
read: right 0.0330, reported 0.3330, a prompt of 200500 tokens
written: right 0.3780, reported 0.6780, a prompt of 200500 tokens'
echo "$seen"
[ "$seen" = "$expected" ]
