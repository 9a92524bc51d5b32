#!/usr/bin/env bash
# OpenLIT leaves the thoughts of Gemini out of the output tokens and of the cost: an answer that costs 2 cents costs 0.03.
#
# Versions: openlit 1.45.0, google-genai 3.6.1, opentelemetry-sdk 1.44.0 (PyPI).
# Behaviour: Gemini reports thoughts apart from the tokens of the answer, adds both in its total, and bills both as output. OpenLIT records the
# thoughts as `gen_ai.usage.reasoning_tokens`, but `gen_ai.usage.output_tokens`, `gen_ai.client.token.usage` and `gen_ai.usage.cost` are without
# them. With OpenAI, whose output tokens contain those of reasoning, it counts them. So the cost of one model cannot be compared with that of
# the other, and the more a model thinks the cheaper it looks. A streamed answer is the same.
# Seen (100 tokens of prompt, 20 of the answer, 2,000 of thoughts, 2,120 in all; 1.25 and 10 dollars per million):
#   100 input, 20 output, 2000 reasoning, 120 in all, cost 0.000325 instead of 0.020325; streamed: the same
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
packages=(openlit==1.45.0 google-genai==3.6.1 opentelemetry-{api,sdk,exporter-otlp}"==1.44.0"
  opentelemetry-{semantic-conventions,instrumentation}"==0.65b0")
for library in aiohttp-client asgi django falcon fastapi flask httpx pyramid requests starlette tornado urllib urllib3; do
  packages+=("opentelemetry-instrumentation-$library==0.65b0") # without these, pip does not find a set of versions that fits
done
python/bin/pip install --quiet --disable-pip-version-check "${packages[@]}"

cat >cost.py <<'PY'
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import openlit
from google import genai
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

model = "gemini-2.5-pro"
answer = json.dumps({
    "candidates": [{"content": {"role": "model", "parts": [{"text": "42"}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 2000, "totalTokenCount": 2120},
    "modelVersion": model,
    "responseId": "answer",
})


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        streamed = "stream" in self.path
        body = (f"data: {answer}\n\n" if streamed else answer).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
with open("prices.json", "w") as file:
    json.dump({"chat": {model: {"promptPrice": 0.00125, "completionPrice": 0.01}}}, file)  # per 1,000 tokens

spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
openlit.init(pricing_json="prices.json", disable_metrics=True, disable_events=True)
client = genai.Client(api_key="none", http_options={"base_url": f"http://127.0.0.1:{server.server_port}"})
client.models.generate_content(model=model, contents="What is 6 times 7?")
for _ in client.models.generate_content_stream(model=model, contents="What is 6 times 7?"):
    pass

for span in spans.get_finished_spans():
    names = "usage.input_tokens", "usage.output_tokens", "usage.reasoning_tokens", "client.token.usage", "usage.cost"
    print(*[span.attributes[f"gen_ai.{name}"] for name in names], end="; ")
PY
python/bin/python cost.py >seen 2>log || { tail log; exit 1; }
cat seen
[ "$(cat seen)" = '100 20 2000 120 0.000325; 100 20 2000 120 0.000325; ' ]
