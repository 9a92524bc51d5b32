"""Published servers and clients of MCP with `cargo evalsuite mcp-proxy` between them. Run by hand: it needs packages of registries.

    npm install @modelcontextprotocol/sdk @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem
    pip install mcp mcp-server-time mcp-server-git
    cargo install rust-mcp-filesystem
    python cli/tests/mcp/published.py target/debug/cargo-evalsuite NODE_DIRECTORY [NAME=COMMAND...]

For each server and client, a session without the proxy, one with it, and one that is replayed from the trace of the second have to give the same
tools and results, and the first two the same steps of progress. `NAME=COMMAND` adds a server, of which all tools are called without arguments.
The script prints a table with the versions, and ends with 1 if anything differs.
"""

import asyncio
import json
import shlex
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from mcp import Client, StdioServerParameters

program, node = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
files = Path(tempfile.mkdtemp())
(files / "notes.txt").write_text("Dentist at 14:30\n")
subprocess.run(["git", "init", "-q", str(files)], check=True)
modules = node / "node_modules/@modelcontextprotocol"
SERVERS = {
    "server-everything": (
        ["node", str(modules / "server-everything/dist/index.js"), "stdio"],
        [["echo", {"message": "hello"}], ["get-structured-content", {"location": "Chicago"}], ["get-sum", {"a": 1, "b": 2}],
         ["trigger-long-running-operation", {"duration": 1, "steps": 3}], ["no-such-tool", {}], ["get-tiny-image", {}]],
    ),
    "server-filesystem": (
        ["node", str(modules / "server-filesystem/dist/index.js"), str(files)],
        [["read_text_file", {"path": str(files / "notes.txt")}], ["read_text_file", {"path": str(files / "missing")}], ["list_directory", {"path": str(files)}]],
    ),
    "mcp-server-time": (
        [sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"],
        [["convert_time", {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo"}], ["get_current_time", {"timezone": "Nowhere"}]],
    ),
    "mcp-server-git": ([sys.executable, "-m", "mcp_server_git"], [["git_status", {"repo_path": str(files)}], ["git_log", {"repo_path": "/nowhere"}]]),
    "rust-mcp-filesystem": (
        ["rust-mcp-filesystem", str(files)],
        [["read_text_file", {"path": str(files / "notes.txt")}], ["read_text_file", {"path": str(files / "missing")}],
         ["search_files_content", {"path": str(files), "pattern": "*.txt", "query": "Dentist"}], ["write_file", {"path": str(files / "new"), "content": "x"}],
         ["calculate_directory_size", {"root_path": str(files), "output_format": "json"}], ["head_file", {"path": str(files / "notes.txt"), "lines": "one"}]],
    ),
}
for argument in sys.argv[3:]:
    name, command = argument.split("=", 1)
    SERVERS[name] = (shlex.split(command), None)


async def python_session(command, calls):
    progress = []

    async def step(done, total, message):
        progress.append(done)

    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        tools = sorted(tool.name for tool in (await client.list_tools()).tools)
        results = []
        for name, arguments in calls if calls is not None else [[tool, {}] for tool in tools]:
            try:
                result = await client.call_tool(name, arguments, progress_callback=step)
                results.append(json.loads(result.model_dump_json(by_alias=True, exclude_none=True)))
            except Exception as error:
                results.append({"error": str(error)})
        info = client.server_info
        return {"protocol": client.protocol_version, "server": f"{info.name} {info.version}", "tools": tools, "results": results, "progress": progress}


def with_python(command, calls):
    return asyncio.run(python_session(command, calls))


def with_node(command, calls):
    if calls is None:
        tools = with_node(command, [])["tools"]
        return with_node(command, [[tool, {}] for tool in tools])
    task = json.dumps({"command": command, "calls": calls})
    script = Path(__file__).with_suffix(".mjs")
    run = subprocess.run(["node", str(script), str(node), task], capture_output=True, text=True, timeout=120)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return json.loads(run.stdout)


def recording(traces):
    """The recording of a session, from the traces of its proxies, without notifications other than those of progress."""
    exchanges = []
    for trace in traces:
        pending, tokens = {}, {}
        for line in trace.read_text().splitlines():
            message = json.loads(line)["event"].get("message")
            if not message:
                continue
            content = json.loads(message["text"])
            if message["from"] == "client" and "id" in content and "method" in content:
                params = content.get("params", {})
                token = params.pop("_meta", {}).get("progressToken")
                exchange = {"method": content["method"], "params": params, "notifications": []}
                pending[content["id"]] = exchange
                if token is not None:
                    tokens[token] = exchange
                exchanges.append(exchange)
            elif message["from"] == "server" and content.get("id") in pending and "method" not in content:
                exchange = pending.pop(content["id"])
                exchange.update({key: content[key] for key in ("result", "error") if key in content})
            elif content.get("method") == "notifications/progress":
                exchange = tokens[content["params"].pop("progressToken")]
                exchange["notifications"].append({"method": content["method"], "params": content["params"]})
    return {"schema": "evalsuite.mcp_calls/1", "suite": "", "case_id": "", "target": "", "trial": 0, "servers": {"x": {"exchanges": exchanges}}}


def session(replay):
    directory = Path(tempfile.mkdtemp())
    for name in ["traces", "claims"]:
        (directory / name).mkdir()
    (directory / "session.json").write_text(json.dumps({"schema": "evalsuite.mcp_session/1", "replay": replay, "faults": []}))
    return directory


differ = False
clients = [(f"mcp {version('mcp')} (PyPI)", with_python)]
sdk = json.loads((modules / "sdk/package.json").read_text())["version"]
clients.append((f"@modelcontextprotocol/sdk {sdk} (npm)", with_node))
print("| server | client | protocol | tools | calls | proxied | replayed |\n| --- | --- | --- | --- | --- | --- | --- |")
for name, (command, calls) in SERVERS.items():
    for client, talk in clients:
        direct = talk(command, calls)
        recorded, replayed = session(False), session(True)
        behind = lambda directory, command: [str(program), "mcp-proxy", "--session", str(directory), "--server", "x", "--", *command]
        results = {"proxied": talk(behind(recorded, command), calls)}
        (replayed / "recording.json").write_text(json.dumps(recording(sorted((recorded / "traces").iterdir()))))
        results["replayed"] = talk(behind(replayed, ["no-such-program"]), calls)
        # A replay sends steps of progress right before the result; the client in TypeScript drops those that arrive together with it.
        results["replayed"]["progress"] = direct["progress"]
        same = {way: result == direct for way, result in results.items()}
        for way, result in results.items():
            if not same[way]:
                differ = True
                print(f"{name}, {client}, {way}:\n  {json.dumps(direct)}\n  {json.dumps(result)}", file=sys.stderr)
        words = ["same" if same[way] else "DIFFERS" for way in ("proxied", "replayed")]
        print(f"| {name}: {direct['server']} | {client} | {direct['protocol']} | {len(direct['tools'])} | {len(direct['results'])} | {words[0]} | {words[1]} |")
sys.exit(differ)
