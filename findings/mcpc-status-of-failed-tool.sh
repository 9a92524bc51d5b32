#!/usr/bin/env bash
# In mcpc, a tool that failed, and a tool that does not exist, end with status 0; a script that checks the status goes on.
#
# Versions: @apify/mcpc 0.2.6, @modelcontextprotocol/sdk 1.32.2 (npm). The server is one of the script.
# Behaviour: The command calls tools of MCP servers from scripts. Its description has a list of exit codes, where 2 is an error of the server, with "tool execution failed" as the first example. A tool that
# reports that it has failed, with `isError`, is shown as one that returned an error, and the status is 0, also with `--json`, whose output has `isError`. A call of a tool that the server does not
# know, which servers of the SDK report in the same way, ends with 0, too. A resource that does not exist has 2, as documented. So a step of a shell script, or an agent that runs the
# command, takes an order that was refused for one that was made, unless it reads the output.
# Guess before the run: 2 for each of them.
# Seen (an order that works, one that is sold out, a tool that does not exist, a resource that does not exist):
#   0; 0, "Tool refuse returned an error", with --json 0 and "isError": true; 0; 2
set -euo pipefail
folder=$(mktemp -d)
# The command keeps a process for each session, which is closed before the folder is removed.
trap '"$folder/node_modules/.bin/mcpc" close @shop >/dev/null 2>&1 || true; rm -rf "$folder"' EXIT
cd "$folder"
export HOME=$folder
npm install --silent --no-audit --no-fund @apify/mcpc@0.2.6 @modelcontextprotocol/sdk@1.32.2 >npm.log 2>&1

cat >server.mjs <<'JS'
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "shop", version: "1.0.0" });
const text = (text) => [{ type: "text", text }];
server.registerTool("order", { description: "Orders a lamp." }, async () => ({ content: text("ordered") }));
server.registerTool("refuse", { description: "Is sold out." }, async () => ({ isError: true, content: text("sold out") }));
server.registerResource("terms", "file:///terms", {}, async (uri) => ({ contents: [{ uri: uri.href, text: "terms" }] }));
await server.connect(new StdioServerTransport());
JS
echo '{"mcpServers": {"shop": {"command": "node", "args": ["'"$folder"'/server.mjs"]}}}' >servers.json
told() {
    local status=0
    node_modules/.bin/mcpc "$@" >output.txt 2>errors.txt || status=$?
    echo "$*: status $status"
}
seen=$(
    told connect servers.json:shop @shop
    told @shop tools-call order
    told @shop tools-call refuse
    grep -ho 'Tool refuse .*' output.txt errors.txt
    told --json @shop tools-call refuse
    grep -o '"isError": true' output.txt
    told @shop tools-call unknown
    told @shop resources-read file:///unknown
)
expected='connect servers.json:shop @shop: status 0
@shop tools-call order: status 0
@shop tools-call refuse: status 0
Tool refuse returned an error
--json @shop tools-call refuse: status 0
"isError": true
@shop tools-call unknown: status 0
@shop resources-read file:///unknown: status 2'
echo "$seen"
[ "$seen" = "$expected" ]
