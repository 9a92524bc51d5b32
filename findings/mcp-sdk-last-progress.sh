#!/usr/bin/env bash
# The MCP client in TypeScript drops the last step of progress if it arrives together with the result.
#
# Versions: @modelcontextprotocol/sdk 1.32.2 (npm).
# Behaviour: A server sends progress 1, 2 and 3 of 3, then the result, in this order. If step 3 and the result are read at once, the client
# forgets the token of the call before it handles the step: `onprogress` is not called for it, and `onerror` is told of an unknown token. With a
# pause before the result, all three steps arrive. So a progress bar stays at two thirds just when a server is fast.
# Seen:
#   apart: steps 1,2,3, done; together: steps 1,2, done; errors: Received a progress notification for an unknown token
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 >npm.log 2>&1

cat >server.mjs <<'JS'
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

const write = (...messages) => {
  const lines = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  process.stdout.write(lines.join(""));
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const serverInfo = { name: "steps", version: "1" };
    write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/call") {
    const { progressToken } = params._meta;
    const step = (progress) => ({ method: "notifications/progress", params: { progressToken, progress, total: 3 } });
    const result = { id, result: { content: [{ type: "text", text: "done" }] } };
    for (const progress of [1, 2]) {
      write(step(progress));
      await setTimeout(200);
    }
    if (params.name === "together") {
      write(step(3), result);
    } else {
      write(step(3));
      await setTimeout(200);
      write(result);
    }
  }
}
JS
cat >client.mjs <<'JS'
import { setTimeout } from "node:timers/promises";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "client", version: "1" });
const errors = [];
client.onerror = (error) => errors.push(error.message.split(":")[0]);
await client.connect(new StdioClientTransport({ command: process.execPath, args: ["server.mjs"] }));
const seen = [];
for (const name of ["apart", "together"]) {
  const steps = [];
  const onprogress = ({ progress }) => steps.push(progress);
  const { content } = await client.callTool({ name }, undefined, { onprogress });
  await setTimeout(300);
  seen.push(`${name}: steps ${steps}, ${content[0].text}`);
}
console.log([...seen, `errors: ${errors}`].join("; "));
await client.close();
JS
seen=$(node client.mjs)
expected='apart: steps 1,2,3, done; together: steps 1,2, done; errors: Received a progress notification for an unknown token'
echo "$seen"
[ "$seen" = "$expected" ]
