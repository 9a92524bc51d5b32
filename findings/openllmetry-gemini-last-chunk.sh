#!/usr/bin/env bash
# In the trace of OpenLLMetry, a streamed answer of Gemini is its last chunk: "4711 is cancelled." is ".", and a tool that was called before the last chunk is missing.
#
# Versions: opentelemetry-instrumentation-google-generativeai 0.62.4, google-genai 3.6.1, opentelemetry-sdk 1.44.0 (PyPI). The model is a local server.
# Behaviour: A streamed answer of Gemini comes in chunks, each with the words and the calls that are new in it. The last one usually has a finish reason, and a few words or none. The instrumentation collects the
# text of all chunks, but writes it only if the last chunk has no candidate. Otherwise, which is the normal case, `gen_ai.output.messages` has the parts of the last chunk. So a judge that reads traces sees an
# answer of a full stop, an agent that refused or leaked something in an earlier chunk did neither, and one that called a tool called none; an empty text
# in the last chunk is the representation of a Python object. The same answers in one piece are complete, and the tokens
# are right in both cases. The README names the tracing of calls and says nothing about streams.
# Guess before the run: the same messages for an answer in one piece and a streamed one.
# Seen (an answer of three chunks; a call of a tool, followed by an empty chunk with the finish reason):
#   in one piece: "Order 4711 is cancelled.", cancel_order; streamed: ".", "media_resolution=None co…"; output tokens 7 each time
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check opentelemetry-instrumentation-google-generativeai==0.62.4 google-genai==3.6.1 opentelemetry-{api,sdk}==1.44.0

cat >stream.py <<'PY'
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from google import genai
from opentelemetry.instrumentation.google_generativeai import GoogleGenerativeAiInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

ANSWERS = {
    "text": [[{"text": "Order 4711 "}], [{"text": "is cancelled"}], [{"text": "."}]],
    "call": [[{"functionCall": {"name": "cancel_order", "args": {"order": 4711}}}], [{"text": ""}]],
}


def response(parts, last):
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0} | ({"finishReason": "STOP"} if last else {})
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 7, "totalTokenCount": 16}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro", "responseId": "answer"}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        chunks = ANSWERS[request["contents"][0]["parts"][0]["text"]]
        streamed = "stream" in self.path
        if streamed:
            body = "".join(f"data: {json.dumps(response(parts, parts is chunks[-1]))}\n\n" for parts in chunks)
        elif "text" in chunks[0][0]:
            body = json.dumps(response([{"text": "".join(parts[0]["text"] for parts in chunks)}], True))
        else:
            body = json.dumps(response(chunks[0], True))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
GoogleGenerativeAiInstrumentor().instrument(tracer_provider=provider)
client = genai.Client(api_key="none", http_options={"base_url": f"http://127.0.0.1:{server.server_port}"})


def seen_by_the_client(chunk):
    return [part.text or part.function_call and part.function_call.name for part in chunk.candidates[0].content.parts]


for kind in ANSWERS:
    received = seen_by_the_client(client.models.generate_content(model="gemini-2.5-pro", contents=kind))
    streamed = [item for chunk in client.models.generate_content_stream(model="gemini-2.5-pro", contents=kind) for item in seen_by_the_client(chunk)]
    for name, items, span in zip(["in one piece", "streamed"], [received, streamed], spans.get_finished_spans()):
        parts = json.loads(span.attributes["gen_ai.output.messages"])[0]["parts"]
        traced = [(part.get("content") or part.get("name"))[:24] for part in parts]
        print(f"{kind}, {name}: client {items}, trace {traced}, output tokens {span.attributes['gen_ai.usage.output_tokens']}")
    spans.clear()
PY
seen=$(python/bin/python -W ignore stream.py 2>stderr.log) || { tail stderr.log; exit 1; }
expected="text, in one piece: client ['Order 4711 is cancelled.'], trace ['Order 4711 is cancelled.'], output tokens 7
text, streamed: client ['Order 4711 ', 'is cancelled', '.'], trace ['.'], output tokens 7
call, in one piece: client ['cancel_order'], trace ['cancel_order'], output tokens 7
call, streamed: client ['cancel_order', None], trace ['media_resolution=None co'], output tokens 7"
echo "$seen"
[ "$seen" = "$expected" ]
