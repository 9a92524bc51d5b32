#!/usr/bin/env bash
# In the traces of LangSmith and OpenInference for JavaScript, two tools called at once in a stream are one call of a tool that does not exist.
#
# Versions: langsmith 0.12.0, @arizeai/openinference-instrumentation-openai 4.2.7, openai 6.49.0, @opentelemetry/sdk-trace-node 2.12.1 (npm). The APIs of OpenAI and of
# LangSmith are functions in place of fetch.
# Behaviour: In a stream of OpenAI's chat API, the parts of a call have the index of their call. LangSmith takes the index of the answer instead, and OpenInference none.
# Both join the parts of all calls: calls of `refund` and `cancel` are one call of `refundcancel`, with arguments that are no JSON. Evaluations of traces then
# compare calls that the agent did not make. OpenInference has no tokens either, which the last chunk has, as it was asked for them. The same answer in one piece
# has two calls, and the tokens, in both. The client's own reading of the same stream is right.
# Guess before the run: the same calls and tokens as in one piece.
# Seen (calls, input and output tokens in the trace):
#   OpenInference: in one piece: refund {"order":1}, cancel {"order":2}, 10, 7; streamed: refundcancel {"order":1}{"order":2}, none;
#   LangSmith: in one piece: the same; streamed: refundcancel {"order":1}{"order":2}, 10, 7; client, streamed: refund, cancel
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund langsmith@0.12.0 @arizeai/openinference-instrumentation-openai@4.2.7 openai@6.49.0 \
    @opentelemetry/sdk-trace-node@2.12.1 >npm.log 2>&1

cat >calls.cjs <<'JS'
const { OpenAIInstrumentation } = require("@arizeai/openinference-instrumentation-openai");
const { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-node");
const { Client } = require("langsmith");
const { wrapOpenAI } = require("langsmith/wrappers/openai");
const { OpenAI } = require("openai");

const calls = [
  { id: "a", type: "function", function: { name: "refund", arguments: '{"order":1}' } },
  { id: "b", type: "function", function: { name: "cancel", arguments: '{"order":2}' } },
];
const usage = { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 };
const answer = { id: "1", created: 1, model: "gpt-5" };

function chunks() {
  const part = (delta, reason = null) => [{ index: 0, delta, finish_reason: reason }];
  const parts = calls.flatMap(({ function: { name, arguments: text }, ...call }, index) => [
    part({ tool_calls: [{ index, ...call, function: { name, arguments: "" } }] }),
    part({ tool_calls: [{ index, function: { arguments: text.slice(0, 5) } }] }),
    part({ tool_calls: [{ index, function: { arguments: text.slice(5) } }] }),
  ]);
  const all = [part({ role: "assistant", content: null }), ...parts, part({}, "tool_calls")].map((choices) => ({ choices }));
  return [...all, { choices: [], usage }].map((chunk) => ({ ...answer, object: "chat.completion.chunk", ...chunk }));
}

const api = async (_, { body }) => {
  if (JSON.parse(body).stream) {
    const events = [...chunks().map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`);
    return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
  }
  const choices = [{ index: 0, finish_reason: "tool_calls", message: { role: "assistant", content: null, tool_calls: calls } }];
  return Response.json({ ...answer, object: "chat.completion", choices, usage });
};

const request = { model: "gpt-5", messages: [{ role: "user", content: "Refund it." }] };

async function show(name, client, calls, tokens) {
  const log = async (label) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    console.log(`${name}, ${label}: ${calls()}; ${tokens().map((count) => count ?? "none").join(", ")}`);
  };
  await client.chat.completions.create(request);
  await log("in one piece");
  for await (const _ of await client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } }));
  await log("streamed");
}

const join = (calls) => calls.map((call) => `${call.function.name} ${call.function.arguments}`).join(" ");

async function main() {
  const runs = [];
  const keep = async (_, { body }) => {
    runs.push(JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString()).outputs);
    return Response.json({});
  };
  const traces = new Client({ apiUrl: "http://127.0.0.1:9", apiKey: "none", autoBatchTracing: false, fetchImplementation: keep });
  const traced = wrapOpenAI(new OpenAI({ apiKey: "none", fetch: api }), { client: traces, tracingEnabled: true });
  const outputs = () => runs.findLast((run) => run?.choices);
  const usage = () => [outputs().usage_metadata?.input_tokens, outputs().usage_metadata?.output_tokens];
  await show("LangSmith", traced, () => join(outputs().choices[0].message.tool_calls), usage);

  const spans = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  new OpenAIInstrumentation({ tracerProvider: provider }).manuallyInstrument(OpenAI);
  const attributes = () => spans.getFinishedSpans().at(-1).attributes;
  const values = (pattern) => Object.keys(attributes()).filter((key) => pattern.test(key)).map((key) => attributes()[key]);
  const tokens = () => ["prompt", "completion"].map((side) => attributes()[`llm.token_count.${side}`]);
  const client = new OpenAI({ apiKey: "none", fetch: api });
  await show("OpenInference", client, () => values(/tool_call\.function/).join(" "), tokens);
  console.log(`client, streamed: ${join((await client.chat.completions.stream(request).finalChatCompletion()).choices[0].message.tool_calls)}`);
}

main();
JS
seen=$(node calls.cjs)
expected='LangSmith, in one piece: refund {"order":1} cancel {"order":2}; 10, 7
LangSmith, streamed: refundcancel {"order":1}{"order":2}; 10, 7
OpenInference, in one piece: refund {"order":1} cancel {"order":2}; 10, 7
OpenInference, streamed: refundcancel {"order":1}{"order":2}; none, none
client, streamed: refund {"order":1} cancel {"order":2}'
echo "$seen"
[ "$seen" = "$expected" ]
