#!/usr/bin/env bash
# In mcp-use, each optional argument that a model leaves out is sent as null, so an ordinary server refuses the call; of a resource in two parts, the first is dropped.
#
# Versions: mcp-use 1.7.1, mcp 1.30.0, langchain-core 1.8.3 (PyPI). The server is one of the script, made with the server of the package mcp, and no model is asked.
# Behaviour: mcp-use makes tools for LangChain from those of a server. An optional argument gets the default null, whatever its type, and with it is sent in each call. The schema of the server
# says that it is a number or a list, and a server made with the package mcp checks that before it runs the tool. So a search for a text only is refused, and the agent, which called the tool
# rightly, sees an error about an argument that it did not send. A tool without optional arguments works, and so does one whose server does not check, with nulls. The values of an enum are not
# in the schema that the model sees. A resource becomes a tool that is documented to need no argument and to give its content: it needs the address, and of the parts of the content, it gives
# the last one, as the text that Python prints for the object.
# Guess before the run: what is left out is not sent, and the resource has both parts.
# Seen (a tool with a text, and optionally a number and one of two words; then with all of them; then the resource):
#   a text only: refused as None is not of the type; all: the call; an enum of the server is any text; the resource without an argument: missing uri; with it: only the second part
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check mcp-use==1.7.1 mcp==1.30.0 langchain-core==1.8.3

cat >server.py <<'PY'
import asyncio
import json

from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from mcp.types import Resource, TextContent, Tool

server = Server("shop")
arguments = {"text": {"type": "string"}, "limit": {"type": "integer"}, "sort": {"type": "string", "enum": ["name", "price"]}}


@server.list_tools()
async def tools():
    return [Tool(name="search", inputSchema={"type": "object", "properties": arguments, "required": ["text"]})]


@server.call_tool()
async def call(name, arguments):
    return [TextContent(type="text", text=json.dumps(arguments))]


@server.list_resources()
async def resources():
    return [Resource(uri="file:///terms", name="terms")]


@server.read_resource()
async def read(uri):
    return [ReadResourceContents(f"{part} part of the terms", "text/plain") for part in ("first", "second")]


async def main():
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


asyncio.run(main())
PY
cat >client.py <<'PY'
import asyncio
import logging
import sys

from mcp_use import MCPClient
from mcp_use.agents.adapters.langchain_adapter import LangChainAdapter

logging.disable()


async def main():
    client = MCPClient.from_dict({"mcpServers": {"shop": {"command": sys.executable, "args": ["server.py"]}}})
    adapter = LangChainAdapter()
    await adapter.create_all(client)
    search, terms = adapter.tools[0], adapter.resources[0]
    print("the model sees of sort:", search.args_schema.model_json_schema()["properties"]["sort"]["anyOf"])
    for arguments in ({"text": "lamp"}, {"text": "lamp", "limit": 5, "sort": "price"}):
        answer = await search.ainvoke(arguments)
        print(arguments, "->", answer["details"] if isinstance(answer, dict) else answer)
    for arguments in ({}, {"uri": "file:///terms"}):
        try:
            print("terms", arguments, "->", await terms.ainvoke(arguments))
        except ValueError as error:
            print("terms", arguments, "->", str(error).split(" [")[0])
    await client.close_all_sessions()


asyncio.run(main())
PY
seen=$(MCP_USE_ANONYMIZED_TELEMETRY=false python/bin/python -W ignore client.py)
expected="the model sees of sort: [{'type': 'string'}, {'type': 'null'}]
{'text': 'lamp'} -> Input validation error: None is not of type 'string'
{'text': 'lamp', 'limit': 5, 'sort': 'price'} -> {\"text\": \"lamp\", \"limit\": 5, \"sort\": \"price\"}
terms {} -> 1 validation error for ReadResourceRequestParams
uri
  Field required
terms {'uri': 'file:///terms'} -> uri=AnyUrl('file:///terms') mimeType='text/plain' meta=None text='second part of the terms'"
echo "$seen"
[ "$seen" = "$expected" ]
