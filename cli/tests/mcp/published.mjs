// A session of the published client in TypeScript (@modelcontextprotocol/sdk) with a server. Run by published.py.
//
// Usage: node published.mjs DIRECTORY JSON, with the directory of `node_modules`, and the command of the server and the calls as JSON.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [directory, task] = process.argv.slice(2);
const { command, calls } = JSON.parse(task);
const resolve = (name) => import(pathToFileURL(createRequire(`${directory}/`).resolve(name)));
const { Client } = await resolve("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await resolve("@modelcontextprotocol/sdk/client/stdio.js");

const transport = new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "ignore" });
let protocol = "?";
transport.setProtocolVersion = (version) => { protocol = version; };
const client = new Client({ name: "published", version: "1" });
const progress = [];
await client.connect(transport);
const tools = (await client.listTools()).tools.map((tool) => tool.name).sort();
const results = [];
for (const [name, args] of calls) {
    try {
        results.push(await client.callTool({ name, arguments: args }, undefined, { onprogress: (step) => progress.push(step.progress) }));
    } catch (error) {
        results.push({ error: error.message });
    }
}
const server = client.getServerVersion();
await client.close();
console.log(JSON.stringify({ protocol, server: `${server.name} ${server.version}`, tools, results, progress }));
