#!/usr/bin/env bash
# Reasoning tokens of an OpenAI-compatible model are counted twice in the output tokens of a span.
#
# Versions: google-adk 2.13.0, litellm 1.110.2 (PyPI).
# Behaviour: the completion_tokens of OpenAI's API include reasoning_tokens, the candidates of Google's API do not include thoughts.
# LiteLlm passes the former on as the latter, and the span has their sum. By the conventions, gen_ai.usage.reasoning.output_tokens
# are part of gen_ai.usage.output_tokens, so a reader cannot see that 3 of 10 tokens are not there.
# The same span has the end reason `stop` for a message that only asks for a tool, where the API says `tool_calls`.
# Seen:
#   sent: completion_tokens 7, reasoning_tokens 3, tool_calls; span: output 10, reasoning 3, stop
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check google-adk==2.13.0 litellm==1.110.2

seen=$(LITELLM_LOCAL_MODEL_COST_MAP=True python/bin/python -W ignore - 2>adk.log <<'PY'
import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

USAGE = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27, "completion_tokens_details": {"reasoning_tokens": 3}}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        called = any(message["role"] == "tool" for message in body["messages"])
        call = {"id": "call_1", "type": "function", "function": {"name": "clock", "arguments": '{"zone": "Lima"}'}}
        message = {"content": "12:30"} if called else {"content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop" if called else "tool_calls"}
        answer = {"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types


def clock(zone: str) -> str:
    "Tells the time."
    return f"12:30 in {zone}"


async def main():
    model = LiteLlm(model="openai/m", api_base=f"http://127.0.0.1:{server.server_port}/v1", api_key="none")
    runner = InMemoryRunner(agent=LlmAgent(name="timekeeper", model=model, tools=[clock]), app_name="times")
    session = await runner.session_service.create_session(app_name="times", user_id="user")
    question = types.Content(role="user", parts=[types.Part(text="time?")])
    async for _ in runner.run_async(user_id="user", session_id=session.id, new_message=question):
        pass


asyncio.run(main())
spans = [span.attributes for span in exporter.get_finished_spans()]
first = next(span for span in spans if span.get("gen_ai.operation.name") == "generate_content")
output, reasoning = (first[f"gen_ai.usage.{name}"] for name in ("output_tokens", "reasoning.output_tokens"))
print(f"span: output {output}, reasoning {reasoning}, {', '.join(first['gen_ai.response.finish_reasons'])}")
PY
) || { tail -5 adk.log; exit 1; }
seen="sent: completion_tokens 7, reasoning_tokens 3, tool_calls; $seen"
echo "$seen"
[ "$seen" = 'sent: completion_tokens 7, reasoning_tokens 3, tool_calls; span: output 10, reasoning 3, stop' ]
