#!/usr/bin/env bash
# In mcp-server-tester, nine failures in ten runs are a problem of the network if the number of the order has 429 in it, and the case passes.
#
# Versions: @gleanwork/mcp-server-tester 1.1.0, @modelcontextprotocol/sdk 1.32.2 (npm).
# Behaviour: A case with `iterations` passes if the part of successful runs reaches `accuracyThreshold`. Errors of the infrastructure, such as time limits of
# the network and rate limits, are left out of that part, as documented. They are found by looking for texts in the message of the error, among them the
# bare digits 429 and 503 and the word "network". So an error that a tool answers with belongs to them as soon as such digits are part of an order, a price
# or a time. One run that succeeded is then enough for 100 %, whatever the threshold. The confidence interval that would show it is missing for one run.
# Seen (a tool that finds the order in the first of ten runs, and says that there is no such order in the others; a threshold of 0.9):
#   order 14289: rate 0.1, failed; order 14290: rate 1, 9 errors of the infrastructure, passed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @gleanwork/mcp-server-tester@1.1.0 @modelcontextprotocol/sdk@1.32.2 >npm.log 2>&1

cat >server.mjs <<'JS'
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js";

let calls = 0;
const server = new Server({ name: "orders", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: "status", inputSchema: { type: "object" } }] }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  if (calls++ > 0) throw new McpError(ErrorCode.InvalidParams, `There is no order ${params.arguments.order}.`);
  return { content: [{ type: "text", text: "delivered" }] };
});
await server.connect(new StdioServerTransport());
JS
cat >cases.mjs <<'JS'
import { closeMCPClient, createMCPClientForConfig, createMCPFixture, runEvalCase } from "@gleanwork/mcp-server-tester";

for (const order of ["14289", "14290"]) {
  const client = await createMCPClientForConfig({ transport: "stdio", command: process.execPath, args: ["server.mjs"] });
  const settings = { id: order, toolName: "status", args: { order }, iterations: 10, accuracyThreshold: 0.9 };
  const result = await runEvalCase({ ...settings, expect: { containsText: "delivered" } }, { mcp: createMCPFixture(client) });
  await closeMCPClient(client);
  const { pass, assertionPassRate, infrastructureErrorCount, assertionPassRateCI } = result;
  console.log(`${order}: ${pass}, rate ${assertionPassRate}, ${infrastructureErrorCount} errors, interval ${typeof assertionPassRateCI}`);
}
JS
seen=$(node cases.mjs)
expected='14289: false, rate 0.1, 0 errors, interval object
14290: true, rate 1, 9 errors, interval undefined'
echo "$seen"
[ "$seen" = "$expected" ]
