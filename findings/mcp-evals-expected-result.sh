#!/usr/bin/env bash
# In MCP Evals, the expected result of an evaluation is not used: two evaluations that expect the opposite send the same request to the judge.
#
# Versions: mcp-evals 2.0.1 with ai 4.3.19, @ai-sdk/openai 1.3.24 and @modelcontextprotocol/sdk 1.32.2 (npm). The model is replaced by a function.
# Behaviour: An evaluation in YAML may have an `expected_result`, described as the expected behaviour, and each example in the description has one, such as
# that an unknown place is to be answered with a message of an error. It is read, and used nowhere. The judge is given the prompt and the final answer alone,
# without what the tools returned either, and is asked whether the answer has factual errors. Whatever the scores are, the command ends with
# status 0, so it cannot fail a pipeline.
# Seen (two evaluations with one prompt, whose expected results are opposite; the judge gives 1 of 5 in all categories):
#   accuracy 1 and 1, status 0; 6 requests, of which none has the expected result; 2 to the judge, of which none has the result of the tool, and which are equal
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts mcp-evals@2.0.1 ai@4.3.19 @ai-sdk/openai@1.3.24 @modelcontextprotocol/sdk@1.32.2 >npm.log 2>&1

cat >server.mjs <<'JS'
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "weather", version: "1.0.0" });
server.tool("weather", { city: z.string() }, async () => ({ content: [{ type: "text", text: "sunny, 31 degrees" }] }));
await server.connect(new StdioServerTransport());
JS
cat >model.mjs <<'JS'
import { appendFileSync } from "node:fs";

const scores = { accuracy: 1, completeness: 1, relevance: 1, clarity: 1, reasoning: 1, overall_comments: "It is wrong." };

globalThis.fetch = async (url, { body }) => {
  appendFileSync("requests.jsonl", `${body}\n`);
  const { messages } = JSON.parse(body);
  const chunk = { id: "a", object: "chat.completion.chunk", created: 1, model: "gpt-4o" };
  const call = { index: 0, id: "call", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } };
  let delta = { role: "assistant", content: "It is raining in Rome." };
  if (body.includes("overall_comments")) delta = { role: "assistant", content: JSON.stringify(scores) };
  else if (messages.at(-1).role === "user") delta = { role: "assistant", tool_calls: [call] };
  const choices = [{ index: 0, delta, finish_reason: delta.tool_calls ? "tool_calls" : "stop" }];
  const events = `data: ${JSON.stringify({ ...chunk, choices })}\n\ndata: [DONE]\n\n`;
  return new Response(events, { headers: { "content-type": "text/event-stream" } });
};
JS
cat >evals.yaml <<'YAML'
model: {provider: openai, name: gpt-4o}
evals:
  - name: found
    description: Weather of a place that exists
    prompt: What is the weather in Rome?
    expected_result: The answer is that the sun shines.
  - name: not found
    description: Weather of a place that does not exist
    prompt: What is the weather in Rome?
    expected_result: The answer is that there is no such place.
YAML
cat >requests.mjs <<'JS'
import { readFileSync } from "node:fs";

const requests = readFileSync("requests.jsonl", "utf8").trim().split("\n");
const judge = requests.filter((request) => request.includes("overall_comments"));
const count = (list, text) => list.filter((request) => request.includes(text)).length;
const expected = count(requests, "The answer is that");
const tool = `${count(judge, "31 degrees")} of ${judge.length}`;
console.log(`requests ${requests.length}, expected ${expected}, tool ${tool}, differ ${new Set(judge).size - 1}`);
JS
export PATH="$folder/node_modules/.bin:$PATH" OPENAI_API_KEY=none
status=0
NODE_OPTIONS="--import $folder/model.mjs" npx mcp-eval evals.yaml server.mjs >evals.log 2>&1 || status=$?
seen="accuracy$(sed -n 's/^ *"accuracy"://p' evals.log | tr -d '\n') status $status, $(node requests.mjs)"
echo "$seen"
[ "$seen" = 'accuracy 1, 1, status 0, requests 6, expected 0, tool 0 of 2, differ 0' ]
