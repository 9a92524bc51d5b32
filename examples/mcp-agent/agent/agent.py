"""An agent that looks things up in notes. It is closed: it prints an answer, and not what it did.

Usage: agent.py CONFIG QUESTION. It starts the MCP servers of the file CONFIG, which it takes in the form that most agents read. In place of a
model it has a rule: search for the longest word of the question, and try again once if that fails.
"""

import json
import subprocess
import sys


class Server:
    """A client of one MCP server."""

    def __init__(self, command, args, env=None):
        self.process = subprocess.Popen([command, *args], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last_id = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "notes-agent", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = [tool["name"] for tool in self.ask("tools/list", {})["result"]["tools"]]

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.last_id:
                return message
        sys.exit("the server has ended")

    def call(self, tool, arguments):
        """The text of a result; `None` of an error."""
        response = self.ask("tools/call", {"name": tool, "arguments": arguments})
        result = response.get("result", {"isError": True})
        return None if result.get("isError") else result["content"][0]["text"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


config, question = sys.argv[1:]
with open(config) as file:
    entry = json.load(file)["mcpServers"]["notes"]
server = Server(entry["command"], entry["args"])
word = max(question.rstrip("?").split(), key=len)
found = server.call("search", {"query": word}) or server.call("search", {"query": word})
server.close()
print(found or "I cannot read the notes.")
