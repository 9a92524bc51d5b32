#!/usr/bin/env bash
# In the traces of OpenLLMetry for JavaScript, an agent that calls tools over the Responses API has answered an empty text, and one that streams nothing at all.
#
# Versions: @traceloop/instrumentation-openai 0.27.0, openai 6.49.0, @opentelemetry/sdk-trace-node 2.12.1 (npm). The API is a function in place of fetch.
# Behaviour: The instrumentation has spans of the Responses API. Of a response, it records the text of the answer. If the model calls tools, the message in the trace is
# an empty text with the reason "stop", and neither the calls nor that there were any can be seen; a refusal looks the same. If the response is streamed, the span
# has no message and no tokens, though the last event has the whole response. So the cost of streamed calls is 0, and evaluations of traces find an agent that
# does nothing. For the chat API, the same instrumentation has the calls and the refusal of an answer in one piece.
# Guess before the run: the calls, and the tokens, in both cases.
# Seen (message, reason, input and output tokens in the trace):
#   Responses, in one piece: text: Hello, stop, 10, 7; calls: empty text, stop, 10, 7; refusal: empty text, stop, 10, 7; streamed: nothing for each of them
#   chat, in one piece: calls: refund, tool_call, 10, 7
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @traceloop/instrumentation-openai@0.27.0 openai@6.49.0 @opentelemetry/sdk-trace-node@2.12.1 >npm.log 2>&1

cat >responses.cjs <<'JS'
const { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-node");
const { OpenAIInstrumentation } = require("@traceloop/instrumentation-openai");
const { OpenAI } = require("openai");

const message = (content) => [{ type: "message", id: "m", role: "assistant", status: "completed", content: [content] }];
const outputs = {
  text: message({ type: "output_text", text: "Hello", annotations: [] }),
  call: [{ type: "function_call", id: "f", call_id: "a", name: "refund", arguments: "{}", status: "completed" }],
  refusal: message({ type: "refusal", refusal: "I cannot help." }),
};

function chat() {
  const call = { id: "a", type: "function", function: { name: "refund", arguments: "{}" } };
  const choices = [{ index: 0, finish_reason: "tool_calls", message: { role: "assistant", content: null, tool_calls: [call] } }];
  const usage = { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 };
  return Response.json({ id: "1", object: "chat.completion", created: 1, model: "gpt-5", choices, usage });
}

const api = async (url, { body }) => {
  const { input, stream } = JSON.parse(body);
  if (String(url).endsWith("/chat/completions")) return chat();
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
  const usage = { input_tokens: 10, output_tokens: 7, total_tokens: 17, ...details };
  const response = { id: `resp_${input}`, object: "response", created_at: 1, model: "gpt-5", status: "completed", output: outputs[input], usage, tools: [] };
  if (!stream) return Response.json(response);
  const events = [{ type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } }];
  response.output.forEach((item, index) => {
    events.push({ type: "response.output_item.added", output_index: index, item });
    if (input === "text") events.push({ type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: "Hello" });
    events.push({ type: "response.output_item.done", output_index: index, item });
  });
  events.push({ type: "response.completed", response });
  const lines = events.map((event, number) => `event: ${event.type}\ndata: ${JSON.stringify({ sequence_number: number, ...event })}\n\n`);
  return new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
};

async function main() {
  const spans = new InMemorySpanExporter();
  const instrumentation = new OpenAIInstrumentation();
  instrumentation.setTracerProvider(new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  instrumentation.manuallyInstrument(OpenAI);
  const client = new OpenAI({ apiKey: "none", fetch: api });
  const show = async (label) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const [{ attributes }] = spans.getFinishedSpans();
    spans.reset();
    const messages = JSON.parse(attributes["gen_ai.output.messages"] ?? "[]");
    const parts = messages.flatMap(({ parts, finish_reason: reason }) => [...parts.map((part) => JSON.stringify(part.name ?? part.content)), reason]);
    const tokens = ["input", "output"].map((side) => attributes[`gen_ai.usage.${side}_tokens`] ?? "none");
    console.log(`${label}: ${[...parts, ...tokens].join(", ")}`);
  };
  for (const stream of [false, true]) {
    for (const input of Object.keys(outputs)) {
      const response = await client.responses.create({ model: "gpt-5", input, stream });
      if (stream) for await (const event of response) if (event.type === "response.completed" && event.response.usage.output_tokens !== 7) throw event;
      await show(`${input}, ${stream ? "streamed" : "in one piece"}`);
    }
  }
  await client.chat.completions.create({ model: "gpt-5", messages: [{ role: "user", content: "Refund it." }] });
  await show("chat, call");
}

main();
JS
seen=$(node responses.cjs)
expected='text, in one piece: "Hello", stop, 10, 7
call, in one piece: "", stop, 10, 7
refusal, in one piece: "", stop, 10, 7
text, streamed: none, none
call, streamed: none, none
refusal, streamed: none, none
chat, call: "refund", tool_call, 10, 7'
echo "$seen"
[ "$seen" = "$expected" ]
