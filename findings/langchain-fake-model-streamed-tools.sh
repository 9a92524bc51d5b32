#!/usr/bin/env bash
# With LangChain's fake model, an agent calls its tool or does not, depending on how its run is watched.
#
# Versions: langchain 1.5.2, langchain-core 1.8.3, langgraph 1.2.24, langgraph-prebuilt 1.1.3 (PyPI).
# Behaviour: `GenericFakeChatModel` returns prepared messages one after the other. The documentation of LangChain tests an agent with it, including a tool call, by a subclass
# as below, and says that it supports streaming. If it is streamed, it splits the text of the message into words, and leaves out the tool calls. LangGraph
# streams a model as soon as the run is watched with the stream mode "messages". Then the agent gets a message without calls, and ends with it: there is no
# error, the last message is that of the first turn, and a check that a tool is not called passes. With `invoke` and the other modes, the same agent calls
# the tool. A message that has only calls is an error.
# Guess before the run: the same messages in all modes.
# Seen (a model that calls refund, with a text, and then says that it was refunded; calls of refund, last answer):
#   invoke: 1, It was refunded.; values: 1, It was refunded.; updates: 1, It was refunded.; messages: 0, I refund it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check langchain==1.5.2 langchain-core==1.8.3 langgraph==1.2.24 langgraph-prebuilt==1.1.3

cat >agent.py <<'PY'
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolCall
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

refunded = []


@tool
def refund(order: int) -> str:
    """Refund an order."""
    refunded.append(order)
    return "done"


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **options):
        return self


def run(mode):
    refunded.clear()
    call = ToolCall(name="refund", args={"order": 5}, id="call-1")
    messages = [AIMessage("I refund it.", tool_calls=[call]), AIMessage("It was refunded.")]
    agent = create_agent(Model(messages=iter(messages)), [refund], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    task = {"messages": [("user", "Refund order 5.")]}
    if mode:
        list(agent.stream(task, thread, stream_mode=mode))
    else:
        agent.invoke(task, thread)
    print(f"{mode or 'invoke'}: {len(refunded)}, {agent.get_state(thread).values['messages'][-1].content}")


for mode in [None, "values", "updates", "messages"]:
    run(mode)
PY
seen=$(python/bin/python -W ignore agent.py)
expected='invoke: 1, It was refunded.
values: 1, It was refunded.
updates: 1, It was refunded.
messages: 0, I refund it.'
echo "$seen"
[ "$seen" = "$expected" ]
