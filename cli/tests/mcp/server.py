"""An MCP server for tests, on standard input and output, with nothing but the standard library.

It answers `tools/call` by the name of the tool; requests are handled in threads, so that answers may come in any order.
"""

import json
import os
import sys
import threading
import time

TOOLS = ["echo", "fail", "sleep", "progress", "ask", "structured", "die", "noise", "notify"]
lock = threading.Lock()
answers = {}


def send(message):
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def call(request):
    name, arguments = request["params"]["name"], request["params"].get("arguments", {})
    token = request["params"].get("_meta", {}).get("progressToken")
    if name == "echo":
        return text(arguments.get("text", ""))
    if name == "fail":
        return text("it failed", isError=True)
    if name == "sleep":
        time.sleep(arguments["seconds"])
        return text("slept")
    if name == "progress":
        for step in range(3):
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": step, "total": 3}})
        return text("done")
    if name == "ask":
        # A request of the server to its client.
        send({"jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
        while "s1" not in answers:
            time.sleep(0.001)
        return text(json.dumps(answers.pop("s1")))
    if name == "structured":
        return text('{"total": 2.50}', structuredContent={"total": 2.5, "items": ["a"]})
    if name == "die":
        os._exit(3)
    if name == "noise":
        with lock:
            sys.stdout.write("this is no JSON\n\n[]\n")
            sys.stdout.flush()
        sys.stderr.write("a line for people\n")
        return text("quiet again")
    if name == "notify":
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return text("changed")
    return None


def handle(request):
    method = request["method"]
    if method == "initialize":
        result = {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "test", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    elif method == "resources/list":
        result = {"resources": [{"uri": "file:///a", "name": "a"}]}
    elif method == "tools/call":
        result = call(request)
    else:
        result = None
    if result is None:
        return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "unknown"}}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def answer(message):
    batch = isinstance(message, list)
    responses = []
    for request in message if batch else [message]:
        if "method" in request and "id" in request:
            responses.append(handle(request))
        elif "method" not in request:
            answers[request["id"]] = request.get("result")
    if batch and responses:
        send(responses)
    elif responses:
        send(responses[0])


if "--stubborn" in sys.argv:
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if pid_file := os.environ.get("PID_FILE"):
    with open(pid_file, "w") as file:
        file.write(str(os.getpid()))
for line in sys.stdin:
    try:
        parsed = json.loads(line)
    except ValueError:
        continue
    if "--serial" in sys.argv:
        answer(parsed)
    else:
        threading.Thread(target=answer, args=(parsed,), daemon=True).start()
if "--stubborn" in sys.argv:
    time.sleep(600)
