#!/usr/bin/env bash
# With cuesheet, the second question to OpenAI's Responses API is not sent, and gets the answer to the first one.
#
# Versions: cuesheet 0.2.0, openai 2.54.0, httpx 0.28.1 (PyPI). The API is a function that httpx calls in place of the network.
# Behaviour: A request is answered from the cassette if it has the URL, the model, the messages, the tools, the temperature and the limit of tokens of a recorded one. The
# description says so, and that OpenAI's client is supported. The Responses API has no messages, but `input` and `instructions`, which are not compared, so all
# requests to one model are the same. This already holds while recording, as the mode for it answers what it has recorded. Of the messages of a chat, only the
# role and the content are compared, though the description has the whole list. So a conversation in which the agent has refunded 500 instead of 5 goes on as
# recorded. A test of an agent then passes or fails with answers to other questions.
# Guess before the run: each different request is sent while recording, and an error in a replay.
# Seen (requests that were sent; answers):
#   Responses API, "Refund order 5." and "Cancel order 7.": 1; Refund order 5. twice; chat with the same two texts: 2; both;
#   chat in which refund was called with 5, then with 500: 1; the first answer twice
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check cuesheet==0.2.0 openai==2.54.0 httpx==0.28.1

cat >questions.py <<'PY'
import json

import cuesheet
import httpx
from openai import OpenAI

sent = []


def api(request):
    """Answer with what was asked."""
    body = json.loads(request.content)
    sent.append(body)
    if request.url.path.endswith("responses"):
        content = [{"type": "output_text", "text": body["input"], "annotations": []}]
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
        answer = {"id": "r", "object": "response", "created_at": 1, "model": "gpt-5", "output": [message]}
    else:
        calls = [call["function"]["arguments"] for message in body["messages"] for call in message.get("tool_calls", [])]
        message = {"role": "assistant", "content": calls[0] if calls else body["messages"][0]["content"]}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice]}
    return httpx.Response(200, json=answer)


def respond(client, text):
    return client.responses.create(model="gpt-5", input=text).output_text


def chat(client, text):
    messages = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="gpt-5", messages=messages).choices[0].message.content


def chat_with_call(client, arguments):
    call = {"id": "1", "type": "function", "function": {"name": "refund", "arguments": arguments}}
    messages = [
        {"role": "user", "content": "Refund it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
    ]
    return client.chat.completions.create(model="gpt-5", messages=messages).choices[0].message.content


questions = ["Refund order 5.", "Cancel order 7."]
for ask, inputs in [(respond, questions), (chat, questions), (chat_with_call, ['{"amount": 5}', '{"amount": 500}'])]:
    sent.clear()
    with cuesheet.cassette(f"{ask.__name__}.yaml"):
        client = OpenAI(api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(api)))
        answers = [ask(client, text) for text in inputs]
    print(f"{ask.__name__}: {len(sent)} sent, answers {answers}")
PY
seen=$(python/bin/python questions.py)
expected="respond: 1 sent, answers ['Refund order 5.', 'Refund order 5.']
chat: 2 sent, answers ['Refund order 5.', 'Cancel order 7.']
chat_with_call: 1 sent, answers ['{\"amount\": 5}', '{\"amount\": 5}']"
echo "$seen"
[ "$seen" = "$expected" ]
