#!/usr/bin/env bash
# In MCPVals, a tool that fails and a tool that does not exist are healthy, and the first example of its description fails.
#
# Versions: mcpvals 0.4.0, @modelcontextprotocol/sdk 1.32.2, zod 3.25.76 (npm). Scripts of the packages are not run, as one of them needs pnpm to build the
# package anew.
# Behaviour: By the specification of MCP, a tool that fails returns a result with `isError`, and the official library for servers does so for exceptions, invalid
# arguments and unknown tools. MCPVals looks only for exceptions of the client. So a failed call is a healthy tool, and an expected error is reported
# as missing. An expected result is compared with the whole answer, which is a list of contents by the specification. So neither the number nor the
# text is equal to it: in the first example of the description, the sum of 5 and 3 is not 8, and the division by zero has no error.
# Seen (a server of the official library with the tools add and divide):
#   add 5 and 3, expecting 8: fails, expecting "8": fails; divide by zero, expecting the error: fails, expecting nothing: passes;
#   a tool that does not exist: passes; add without its arguments: passes
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts mcpvals@0.4.0 @modelcontextprotocol/sdk@1.32.2 zod@3.25.76 >npm.log 2>&1

cat >server.mjs <<'JS'
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "calculator", version: "1.0.0" });
const numbers = { a: z.number(), b: z.number() };
server.tool("add", numbers, async ({ a, b }) => ({ content: [{ type: "text", text: `${a + b}` }] }));
server.tool("divide", numbers, async ({ a, b }) => {
  if (b === 0) throw new Error("division by zero");
  return { content: [{ type: "text", text: `${a / b}` }] };
});
await server.connect(new StdioServerTransport());
JS
cat >config.json <<'JSON'
{
  "server": { "transport": "stdio", "command": "node", "args": ["server.mjs"] },
  "workflows": [],
  "toolHealthSuites": [
    {
      "name": "calculator",
      "tests": [
        { "description": "sum as number", "name": "add", "args": { "a": 5, "b": 3 }, "expectedResult": 8 },
        { "description": "sum as text", "name": "add", "args": { "a": 5, "b": 3 }, "expectedResult": "8" },
        { "description": "expected error", "name": "divide", "args": { "a": 10, "b": 0 }, "expectedError": "division by zero" },
        { "description": "failure", "name": "divide", "args": { "a": 10, "b": 0 } },
        { "description": "unknown tool", "name": "multiply", "args": {} },
        { "description": "no arguments", "name": "add", "args": {} }
      ]
    }
  ]
}
JSON
NO_COLOR=1 npx mcpvals eval config.json --tool-health-only >health.log 2>&1 && exit 1
seen=$(sed -nE 's/^  ([✓✗]) (.*) \([0-9]+ms\)$/\2 \1/p' health.log | awk '!seen[$0]++' | paste -sd, | sed 's/,/, /g')
echo "$seen"
[ "$seen" = 'sum as number ✗, sum as text ✗, expected error ✗, failure ✓, unknown tool ✓, no arguments ✓' ]
