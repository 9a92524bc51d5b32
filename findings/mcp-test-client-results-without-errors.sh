#!/usr/bin/env bash
# In mcp-test-client, no tool of an MCP server ever reports an error, and a server has the tools of its first page only.
#
# Versions: mcp-test-client 1.0.1, @modelcontextprotocol/sdk 1.32.2 (npm).
# Behaviour: The package is to test MCP servers. Its client reads a result by a schema that has `content` and nothing else, and what the schema does not name is removed: `isError`, by which
# a tool of MCP reports that it failed, and `structuredContent`. So an assertion that the result is no error holds for each result, and one that it is an error for none. The list of tools is
# read in the same way, without `nextCursor`, and the next page is not asked for. So a test that a server does not offer a tool passes as long as the tool is on the second page.
# Guess before the run: the result as the server sent it, and both tools.
# Seen (a server with a tool on each of two pages, whose tools fail; the client of the package, and that of the SDK on which it is built):
#   package: refund; isError undefined, fields: content; SDK: refund, delete_all_orders; isError true, fields: content, isError, structuredContent
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund mcp-test-client@1.0.1 @modelcontextprotocol/sdk@1.32.2 >npm.log 2>&1

cat >server.mjs <<'JS'
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "orders", version: "1.0.0" }, { capabilities: { tools: {} } });
const tool = (name) => ({ name, inputSchema: { type: "object" } });
const pages = { 1: { tools: [tool("refund")], nextCursor: "2" }, 2: { tools: [tool("delete_all_orders")] } };
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => pages[params?.cursor ?? 1]);
const text = [{ type: "text", text: "Order 5 is locked." }];
server.setRequestHandler(CallToolRequestSchema, () => ({ content: text, structuredContent: { locked: true }, isError: true }));
await server.connect(new StdioServerTransport());
JS
cat >client.mjs <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { MCPTestClient } from "mcp-test-client";

const show = (name, tools, result) =>
  console.log(`${name}: ${tools.map((tool) => tool.name).join(", ")}; isError ${result.isError}, fields: ${Object.keys(result).sort().join(", ")}`);

const tested = new MCPTestClient({ serverCommand: "node", serverArgs: ["server.mjs"] });
await tested.init();
const found = await tested.listTools();
await tested.assertToolCall("refund", { order: 5 }, (result) => show("package", found, result));

const client = new Client({ name: "client", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: "node", args: ["server.mjs"] }));
const first = await client.listTools();
const second = await client.listTools({ cursor: first.nextCursor });
show("SDK", [...first.tools, ...second.tools], await client.callTool({ name: "refund", arguments: { order: 5 } }));
await client.close();
process.exit();
JS
seen=$(node client.mjs)
expected='package: refund; isError undefined, fields: content
SDK: refund, delete_all_orders; isError true, fields: content, isError, structuredContent'
echo "$seen"
[ "$seen" = "$expected" ]
