#!/usr/bin/env bash
# In smolagents, a tool of an MCP server that reports an error has succeeded, and of a result in two parts the second is dropped.
#
# Versions: mcpadapt 0.1.19, smolagents 1.26.0, mcp 1.30.0 (PyPI). The results of the tool are made by the script, and no server is started.
# Behaviour: A tool of MCP reports that it failed by `isError` in its result. mcpadapt, by which smolagents reaches such tools, looks at the content only, and returns the text of
# the error as the answer of the tool. A tool of smolagents that fails raises an exception, and the step of the agent has the error. So an evaluation that counts steps with errors
# finds none, and an agent is not told that the text is an error. Results often are several pieces of text, such as one for each search hit. All but the first are
# left out; a line in the log says so, once for each call. The description of mcpadapt names neither.
# Guess before the run: a step with an error; and both texts.
# Seen (the error of the step, its observation):
#   a tool of Python that raises: error Order 5 is locked; a tool of MCP that reports it: no error, Order 5 is locked.; a result of MCP in two parts: no error, Hit 1: open.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check mcpadapt==0.1.19 smolagents==1.26.0 mcp==1.30.0

cat >agent.py <<'PY'
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as Description
from mcpadapt.smolagents_adapter import SmolAgentsAdapter
from smolagents import LogLevel, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole


class Refunds(Model):
    """Calls the tool, then answers."""

    asked = 0

    def generate(self, messages, **kwargs):
        self.asked += 1
        name, arguments = ("refund", {"order": 5}) if self.asked == 1 else ("final_answer", {"answer": "Done."})
        call = ChatMessageToolCall(id=f"call {self.asked}", type="function", function=ChatMessageToolCallFunction(name=name, arguments=arguments))
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


@tool
def refund(order: int) -> str:
    """Refunds an order.

    Args:
        order: its number
    """
    raise RuntimeError("Order 5 is locked.")


def of_mcp(error, *texts):
    schema = {"type": "object", "properties": {"order": {"type": "integer", "description": "its number"}}, "required": ["order"]}
    result = CallToolResult(content=[TextContent(type="text", text=text) for text in texts], isError=error)
    return SmolAgentsAdapter().adapt(lambda arguments: result, Description(name="refund", description="Refunds an order.", inputSchema=schema))


tools = {
    "python": refund,
    "mcp": of_mcp(True, "Order 5 is locked."),
    "mcp in two parts": of_mcp(False, "Hit 1: open.", "Hit 2: closed."),
}
for name, used in tools.items():
    agent = ToolCallingAgent(tools=[used], model=Refunds(), max_steps=3, verbosity_level=LogLevel.OFF)
    agent.run("Refund order 5.")
    step = agent.memory.steps[1]
    print(f"{name}: {type(step.error).__name__ if step.error else 'no error'}, observed {step.observations}")
PY
seen=$(python/bin/python agent.py 2>agent.log)
expected='python: AgentToolExecutionError, observed None
mcp: no error, observed Order 5 is locked.
mcp in two parts: no error, observed Hit 1: open.'
echo "$seen"
[ "$seen" = "$expected" ]
