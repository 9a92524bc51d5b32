#!/usr/bin/env bash
# A suite of Reactive Agents is judged without an answer, and a judge's score of 0 is 0.5.
#
# Versions: @reactive-agents/eval 0.9.0, @reactive-agents/llm-provider 0.9.0, effect 3.22.4 (npm).
# Behaviour: The documentation has one call for evaluating a suite, `runSuite`, and says that the judge compares the outputs of the agent with the expected
# ones. But no agent is run, and none can be given. The judge gets the same fixed text as the actual output of each case. So a suite measures nothing, and all
# its runs are alike. In `runCase`, which gets an answer, the judge's reply becomes a number, and 0 counts as no number, which is 0.5. So what the judge calls
# wholly wrong is better than what it calls nearly so, and two dimensions at 0.9 and 0 are a pass at the threshold of 0.7.
# Seen (the judge gives 0 to all but the expected answer; or what is stated):
#   suite: asked about "[evaluated via LLM-as-judge]", score 0.5; case, wrong answer: 0.5; right answer: 1; judge says 0.1: 0.1;
#   accuracy 0, relevance 0.9: overall 0.7, passed true
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @reactive-agents/eval@0.9.0 @reactive-agents/llm-provider@0.9.0 effect@3.22.4 >npm.log 2>&1

cat >judge.mjs <<'JS'
import { EvalService, EvalServiceLive } from "@reactive-agents/eval";
import { LLMService } from "@reactive-agents/llm-provider";
import { Effect, Layer } from "effect";

let output;
const honest = (prompt) => (/Actual output: Lima\n/.test(prompt) ? "1.0" : "0.0");
const judged = (reply, evaluate) => {
  const complete = ({ messages: [{ content }] }) => {
    output = content.match(/Actual output: (.*)/)[1];
    return Effect.succeed({ content: reply(content) });
  };
  const judge = Layer.succeed(LLMService, { complete });
  return Effect.runPromise(Effect.flatMap(EvalService, evaluate).pipe(Effect.provide(EvalServiceLive), Effect.provide(judge)));
};
const question = { id: "capital", name: "capital", input: "Capital of Peru?", expectedOutput: "Lima" };
const suite = { id: "suite", name: "suite", description: "", dimensions: ["accuracy"], cases: [question] };

const { summary } = await judged(honest, (service) => service.runSuite(suite, "agent"));
console.log(`suite: asked about "${output}", score ${summary.avgScore}`);
for (const [name, answer, reply] of [
  ["wrong answer", "Cusco", honest],
  ["right answer", "Lima", honest],
  ["judge says 0.1", "Cusco", () => "0.1"],
]) {
  const { overallScore } = await judged(reply, (service) => service.runCase(question, "agent", ["accuracy"], answer));
  console.log(`${name}: ${overallScore}`);
}
const byDimension = (prompt) => (prompt.includes("accuracy") ? "0.0" : "0.9");
const result = await judged(byDimension, (service) => service.runCase(question, "agent", ["accuracy", "relevance"], "Cusco"));
console.log(`accuracy 0, relevance 0.9: overall ${result.overallScore}, passed ${result.passed}`);
JS
seen=$(node judge.mjs)
expected='suite: asked about "[evaluated via LLM-as-judge]", score 0.5
wrong answer: 0.5
right answer: 1
judge says 0.1: 0.1
accuracy 0, relevance 0.9: overall 0.7, passed true'
echo "$seen"
[ "$seen" = "$expected" ]
