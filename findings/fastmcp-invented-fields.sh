#!/usr/bin/env bash
# FastMCP's client says that an order is paid although the tool said nothing about it, and leaves out the warning that it sent.
#
# Versions: fastmcp 4.2.3, mcp 2.3.0 (PyPI). The server runs in the same process.
# Behaviour: The result of a call has `structured_content`, the JSON that the server sent, and `data`, described as Python objects made from the output schema of the tool. A field
# that the tool did not send has the value that the schema gives as `default`, or None. In JSON Schema, a default says nothing about a value that is there. Fields
# that are not in the schema, which allows them, are dropped, and the names of others are changed to what Python allows. So a check of `data` passes for
# a fact that no tool reported, cannot tell null from missing, and does not see what the server added. The documentation of `data` mentions none of this.
# Guess before the run: the fields that were sent, with better types.
# Seen (a tool whose schema has order, paid with the default true, and note, and which sends order and warning; then one that sends order-id):
#   sent: order, warning; data: order 5, paid True, note None; sent: order-id; data: order_id
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0

cat >order.py <<'PY'
import asyncio

from fastmcp import Client, FastMCP

server = FastMCP("shop")
fields = {"order": {"type": "string"}, "paid": {"type": "boolean", "default": True}, "note": {"type": "string"}}


@server.tool(output_schema={"type": "object", "properties": fields, "required": ["order"]})
def find_order() -> dict:
    return {"order": "5", "warning": "payment failed"}


@server.tool(output_schema={"type": "object", "properties": {"order-id": {"type": "string"}}})
def find_id() -> dict:
    return {"order-id": "5"}


async def main():
    async with Client(server) as client:
        for tool in ["find_order", "find_id"]:
            result = await client.call_tool(tool)
            print(f"{tool}: sent {result.structured_content}, data {vars(result.data)}")


asyncio.run(main())
PY
seen=$(python/bin/python -W ignore order.py 2>log)
expected="find_order: sent {'order': '5', 'warning': 'payment failed'}, data {'order': '5', 'paid': True, 'note': None}
find_id: sent {'order-id': '5'}, data {'order_id': '5'}"
echo "$seen"
[ "$seen" = "$expected" ]
