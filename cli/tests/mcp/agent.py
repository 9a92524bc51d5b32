"""An agent for tests: it calls the tools that its prompt names, as a client of MCP with nothing but the standard library.

Usage: agent.py CONFIG PROMPT_FILE OUTPUT_FILE. The prompt is JSON: `calls` are lists of server, tool and arguments, `report` has the calls
written to the output file under these names, `limit` is how long an answer is waited for, `hang` has the agent never end.
"""

import json
import os
import subprocess
import sys
import threading
import time
from queue import Empty, Queue


class Server:
    def __init__(self, entry):
        env = {"PATH": os.environ["PATH"], **entry.get("env", {})}
        self.process = subprocess.Popen([entry["command"], *entry["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True)
        self.messages, self.id = Queue(), 0
        threading.Thread(target=self.read, daemon=True).start()
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.request("tools/list", {})

    def read(self):
        for line in self.process.stdout:
            try:
                self.messages.put(json.loads(line))
            except ValueError:
                pass

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params, limit=20):
        self.id += 1
        self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        end = time.monotonic() + limit
        while True:
            try:
                message = self.messages.get(timeout=max(end - time.monotonic(), 0.01))
            except Empty:
                return {"timeout": True}
            if message.get("id") == self.id:
                return message

    def close(self):
        self.process.stdin.close()
        self.process.wait()


config, prompt, output = sys.argv[1:]
with open(config) as file:
    servers = json.load(file)["mcpServers"]
with open(prompt) as file:
    task = json.load(file)
started, said, calls = {}, [], []
for index, (name, tool, arguments) in enumerate(task["calls"]):
    if name not in started:
        started[name] = Server(servers[name])
    response = started[name].request("tools/call", {"name": tool, "arguments": arguments}, task.get("limit", 20))
    if "timeout" in response:
        said.append("timeout")
    elif "error" in response:
        said.append("error")
    else:
        said.append("".join(part.get("text", "") for part in response["result"]["content"]))
    if "report" in task:
        calls.append({"tool": task["report"].format(server=name, tool=tool), "input": arguments, "id": f"call-{index}"})
if task.get("hang"):
    time.sleep(600)
for server in started.values():
    server.close()
answer = " ".join(said)
with open(output, "w") as file:
    if calls:
        messages = [{"role": "assistant", "tool_calls": [call]} for call in calls] + [{"role": "assistant", "content": answer}]
        json.dump({"output": messages}, file)
    else:
        file.write(answer)
