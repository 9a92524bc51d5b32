#!/usr/bin/env bash
# In a trace of the AI SDK, a tool that failed makes all later spans errors, also those of tools and model calls that succeeded.
#
# Versions: @arizeai/openinference-vercel 2.8.1, ai 6.0.326, @opentelemetry/sdk-trace-node 2.12.1 and 1.30.1 (npm). On Node.js 20, npm installs the first two.
# Behaviour: OpenInference's processor gives the root of a trace the status of the worst span in it, and all others their own, as its comments say. It takes a
# span for the root if it has no `parentSpanId`. Version 2 of OpenTelemetry's SDK, which `@vercel/otel` of its installation guide asks for, has
# `parentSpanContext` in its place; another file of the package knows both. So each span is the root, and after the first error each one is an error with the
# message of that one. With version 1 of the SDK, they are right. Rates of failed tools and calls are counted from these states. The newest version, 3.2.1,
# needs Node.js 22 and was not run; it has the same condition.
# Seen (an agent calls two tools, of which one fails, and then answers):
#   SDK 2 without the processor: pay error "no stock", search unset, later call unset; SDK 2: all three error "no stock";
#   SDK 1: pay error "no stock", search ok, later call ok
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >trace.mjs <<'JS'
import { OpenInferenceSimpleSpanProcessor } from "@arizeai/openinference-vercel";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

const exporter = new InMemorySpanExporter();
const plain = process.argv[2] === "plain";
const processor = plain ? new SimpleSpanProcessor(exporter) : new OpenInferenceSimpleSpanProcessor({ exporter });
new NodeTracerProvider({ spanProcessors: [processor] }).register();

const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } };
const call = (toolName) => ({ type: "tool-call", toolCallId: toolName, toolName, input: "{}" });
const replies = [
  { content: [call("pay"), call("search")], finishReason: { unified: "tool-calls" }, usage, warnings: [] },
  { content: [{ type: "text", text: "Sold out." }], finishReason: { unified: "stop" }, usage, warnings: [] },
];
const pay = async () => {
  throw new Error("no stock");
};
const search = () => new Promise((found) => setTimeout(found, 50, "a lamp"));
await generateText({
  model: new MockLanguageModelV3({ doGenerate: async () => replies.shift() }),
  tools: { pay: tool({ inputSchema: z.object({}), execute: pay }), search: tool({ inputSchema: z.object({}), execute: search }) },
  prompt: "Buy a lamp.",
  stopWhen: stepCountIs(3),
  experimental_telemetry: { isEnabled: true },
});
const state = ({ status: { code, message } }) => ["unset", "ok", `error "${message}"`][code];
const spans = exporter.getFinishedSpans();
const tools = spans.filter(({ attributes }) => attributes["ai.toolCall.name"]);
const calls = spans.filter(({ attributes }) => attributes["ai.operationId"] === "ai.generateText.doGenerate");
console.log(tools.map((span) => `${span.attributes["ai.toolCall.name"]} ${state(span)}`).join(", ") + `, later call ${state(calls[1])}`);
JS
seen=
for version in 2.12.1 1.30.1; do
  rm -rf node_modules package.json package-lock.json
  npm install --silent --no-audit --no-fund @arizeai/openinference-vercel@2.8.1 ai@6.0.326 zod@4.6.7 @opentelemetry/api@1.9.1 \
    "@opentelemetry/sdk-trace-base@$version" "@opentelemetry/sdk-trace-node@$version" >npm.log 2>&1
  [ "$version" = 1.30.1 ] || seen+="$version without: $(node trace.mjs plain); "
  seen+="$version: $(node trace.mjs); "
done
echo "$seen"
[ "$seen" = '2.12.1 without: pay error "no stock", search unset, later call unset; 2.12.1: pay error "no stock", search error "no stock", later call error "no stock"; 1.30.1: pay error "no stock", search ok, later call ok; ' ]
