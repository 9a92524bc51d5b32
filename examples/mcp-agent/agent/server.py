"""An MCP server with notes, on standard input and output."""

import json
import sys

NOTES = ["Dentist on Thursday at 14:30", "Parcel is with the neighbours", "Meeting moved to Friday"]
TOOL = {
    "name": "search",
    "description": "Finds notes that contain a word.",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    params = request.get("params", {})
    if request["method"] == "initialize":
        info = {"name": "notes", "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    elif request["method"] == "tools/list":
        result = {"tools": [TOOL]}
    else:
        query = params["arguments"]["query"].lower()
        found = [note for note in NOTES if query in note.lower()]
        result = {"content": [{"type": "text", "text": "; ".join(found) or "nothing found"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
