#!/usr/bin/env bash
# Two answers to one streamed request are one answer in Langfuse, with the words of both in turn.
#
# Versions: langfuse 5.0.4, openai 3.57.0, opentelemetry-sdk 1.45.2 (PyPI). A local server takes the place of the API and of Langfuse.
# Behaviour: With `n=2`, each chunk of the stream says by its index which answer it belongs to. The integration does not look at the index, and appends
# the content of all chunks to one text. So a judge that reads the trace gets a text that the model has not written. Tool calls are merged by their own
# index, so the arguments of the first call of both answers are one text, which is no JSON. The finish reason is that of the answer that ended last: an
# answer that was cut off is not seen to be. Without the stream, the answers are a list, as a comment in the code intends.
# Guess before the run: a list of two answers, as without the stream.
# Seen (two answers, then two calls of a tool; without and with the stream):
#   "The refund is approved." and "The refund is rejected."; "The The refund refund is is approved.rejected."
#   {"order": 5} and {"order": 7}; {"order": {"order": 5}7}; reasons length and stop: stop
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check langfuse==5.0.4 openai==3.57.0 opentelemetry-sdk==1.45.2

cat >choices.py <<'PY'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langfuse import Langfuse
from langfuse.openai import OpenAI
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

texts = [["The ", "refund ", "is ", "approved."], ["The ", "refund ", "is ", "rejected."]]
arguments = [['{"order": ', "5}"], ['{"order": ', "7}"]]


def delta(part, tools):
    if not tools:
        return {"role": "assistant", "content": part}
    return {"role": "assistant", "tool_calls": [{"index": 0, "id": "call", "type": "function", "function": {"name": "refund", "arguments": part}}]}


class Server(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if not self.path.endswith("/chat/completions"):  # spans for Langfuse
            return self.answer("{}", "application/json")
        request = json.loads(body)
        tools = "tools" in request
        answers = arguments if tools else texts
        common = {"id": "answer", "created": 1, "model": "gpt-4o-mini"}
        if not request.get("stream"):
            choices = [{"index": i, "finish_reason": "stop", "message": delta("".join(parts), tools)} for i, parts in enumerate(answers)]
            return self.answer(json.dumps({**common, "object": "chat.completion", "choices": choices}), "application/json")
        chunks = [{"index": i, "delta": delta(part, tools)} for parts in zip(*answers) for i, part in enumerate(parts)]
        chunks += [{"index": i, "delta": {}, "finish_reason": reason} for i, reason in enumerate(("length", "stop"))]
        events = [json.dumps({**common, "object": "chat.completion.chunk", "choices": [choice]}) for choice in chunks]
        self.answer("".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]), "text/event-stream")

    def answer(self, text, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
langfuse = Langfuse(public_key="public", secret_key="secret", base_url=address, tracer_provider=provider)
client = OpenAI(api_key="none", base_url=f"{address}/v1")
tool = {"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}
for options in ({}, {"tools": [tool]}):
    for stream in (False, True):
        answer = client.chat.completions.create(
            model="gpt-4o-mini", n=2, stream=stream, messages=[{"role": "user", "content": "Refund?"}], **options
        )
        if stream:
            list(answer)
        attributes = spans.get_finished_spans()[-1].attributes
        output = attributes["langfuse.observation.output"]
        if output.startswith("{"):
            output = f"[{output}]"
        for one in json.loads(output) if output.startswith("[") else [output]:
            text = one if isinstance(one, str) else one["tool_calls"][0]["function"]["arguments"] if "tool_calls" in one else one["content"]
            print("streamed:" if stream else "whole:", text)
        if stream:
            print("finish reason:", json.loads(attributes["langfuse.observation.metadata.finish_reason"]))
langfuse.flush()
PY
seen=$(python/bin/python choices.py)
expected='whole: The refund is approved.
whole: The refund is rejected.
streamed: The The refund refund is is approved.rejected.
finish reason: stop
whole: {"order": 5}
whole: {"order": 7}
streamed: {"order": {"order": 5}7}
finish reason: stop'
echo "$seen"
[ "$seen" = "$expected" ]
