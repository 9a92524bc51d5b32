#!/usr/bin/env bash
# Over ACP, Gemini CLI creates no file if its client says that the file does not exist yet.
#
# Versions: @google/gemini-cli 0.61.0 (npm), with a model on loopback that calls `write_file` once.
# Behaviour: For a client that offers to read and write files, `write_file` first reads the file. The protocol has an error for that: -32002, "Resource
# not found". Gemini CLI knows this message and others, such as that of the system, but looks for them in an `Error`; its connection rejects with the plain object
# of the answer. So the error is not recognised, the tool fails, and nothing is written. An empty text for a file that does not exist makes it work,
# and the tool then says that it has overwritten the file.
# Seen:
#   protocol: Error checking existing file: Resource not found, written 0; system: Error checking existing file: ENOENT: no such file or directory, written 0;
#   empty: Successfully overwrote file, written 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --omit=optional @google/gemini-cli@0.61.0 >npm.log 2>&1
mkdir home work

cat >client.mjs <<'JS'
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

const work = `${process.cwd()}/work`;
const answers = {
  protocol: { error: { code: -32002, message: "Resource not found" } },
  system: { error: { code: -32603, message: "ENOENT: no such file or directory" } },
  empty: { result: { content: "" } },
};
const missing = answers[process.argv[2]];

let outcome;
const model = createServer(async (request, response) => {
  const { contents = [] } = JSON.parse((await text(request)) || "{}");
  const result = contents.at(-1)?.parts?.find((part) => part.functionResponse)?.functionResponse.response;
  outcome ??= result;
  const call = { functionCall: { name: "write_file", args: { file_path: `${work}/note.txt`, content: "paid\n" } } };
  const candidates = [{ index: 0, finishReason: "STOP", content: { role: "model", parts: [result ? { text: "Done." } : call] } }];
  const usageMetadata = { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 };
  response.setHeader("Content-Type", "text/event-stream");
  response.end(`data: ${JSON.stringify({ candidates, usageMetadata })}\n\n`);
}).listen(0, "127.0.0.1");
await once(model, "listening");

const agent = spawn(process.execPath, ["node_modules/@google/gemini-cli/bundle/gemini.js", "--acp", "--model", "gemini-2.5-flash"], {
  env: {
    PATH: process.env.PATH,
    HOME: `${process.cwd()}/home`,
    GEMINI_API_KEY: "none",
    GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${model.address().port}`,
  },
  stdio: ["pipe", "pipe", "ignore"],
});
const send = (message) => agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const waiting = new Map();
const call = (method, params) =>
  new Promise((resolve, reject) => {
    const id = waiting.size;
    waiting.set(id, { resolve, reject });
    send({ id, method, params });
  });
let written = 0;
createInterface({ input: agent.stdout }).on("line", (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === "fs/read_text_file") {
    send({ id, ...missing });
  } else if (method === "fs/write_text_file") {
    written += 1;
    send({ id, result: null });
  } else if (method === "session/request_permission") {
    const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
    send({ id, result: { outcome: { outcome: "selected", optionId } } });
  } else if (method === undefined) {
    const { resolve, reject } = waiting.get(id);
    error ? reject(new Error(error.message)) : resolve(result);
  }
});

await call("initialize", { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } } });
const { sessionId } = await call("session/new", { cwd: work, mcpServers: [] });
await call("session/prompt", { sessionId, prompt: [{ type: "text", text: "Create note.txt." }] });
const said = (outcome.error ?? outcome.output).replace(/(file): [/].*/s, "$1");
console.log(`${process.argv[2]}: ${said}, written ${written}`);
agent.kill();
process.exit();
JS
seen=$(for answer in protocol system empty; do timeout 120 node client.mjs "$answer"; done)
expected='protocol: Error checking existing file: Resource not found, written 0
system: Error checking existing file: ENOENT: no such file or directory, written 0
empty: Successfully overwrote file, written 1'
echo "$seen"
[ "$seen" = "$expected" ]
