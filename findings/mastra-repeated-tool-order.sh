#!/usr/bin/env bash
# In Mastra's evals, the lenient order of tools fails an agent that the strict order passes, if a tool is expected twice.
#
# Versions: @mastra/evals 1.10.2, @mastra/core 1.71.0 (npm).
# Behaviour: Without `strictMode`, `expectedToolOrder` allows other calls between the expected ones. It looks for the first call of each expected
# tool. So `search, book, search` is never in order, not even in a run with exactly these calls, which strict mode passes. And a call that
# comes too early fails a run that has the expected order later: `book, search, book` for `search, book`.
# Seen:
#   search,look,book for search,book: lenient 1, strict 0; search,book,search for search,book,search: lenient 0, strict 1;
#   book,search,book for search,book: lenient 0, strict 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @mastra/evals@1.10.2 @mastra/core@1.71.0 zod@4 >npm.log 2>&1

cat >order.mjs <<'JS'
import { createToolCallAccuracyScorerCode } from "@mastra/evals/scorers/prebuilt";
import { createAgentTestRun, createTestMessage, createToolInvocation } from "@mastra/evals/scorers/utils";

const called = (tools) =>
  tools.map((toolName, index) => createToolInvocation({ toolCallId: `call-${index}`, toolName, args: {}, result: {} }));
const run = (tools) =>
  createAgentTestRun({
    inputMessages: [createTestMessage({ role: "user", content: "Book a flight.", id: "1" })],
    output: [createTestMessage({ role: "assistant", content: "Done.", id: "2", toolInvocations: called(tools) })],
  });

const seen = [];
for (const [expectedToolOrder, tools] of [
  [["search", "book"], ["search", "look", "book"]],
  [["search", "book", "search"], ["search", "book", "search"]],
  [["search", "book"], ["book", "search", "book"]],
]) {
  const scores = [];
  for (const strictMode of [false, true]) {
    const { score } = await createToolCallAccuracyScorerCode({ expectedToolOrder, strictMode }).run(run(tools));
    scores.push(score);
  }
  seen.push(`${tools} for ${expectedToolOrder}: lenient ${scores[0]}, strict ${scores[1]}`);
}
console.log(seen.join("; "));
JS
seen=$(node order.mjs)
expected='search,look,book for search,book: lenient 1, strict 0; search,book,search for search,book,search: lenient 0, strict 1; book,search,book for search,book: lenient 0, strict 0'
echo "$seen"
[ "$seen" = "$expected" ]
