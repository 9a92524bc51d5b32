#!/usr/bin/env bash
# In vitest-evals, a list without tools means that any tool may be called, also if additional tools are forbidden.
#
# Versions: vitest-evals 0.16.1 (npm).
# Behaviour: `ToolCallJudge({ expectedTools: [], allowExtras: false })` gives the score 1 to an agent that calls `delete`, with the explanation
# that no tool calls were expected. With one expected tool, the same additional call makes the score 0. So the judge cannot say that an
# agent must not call a tool at all.
# Seen:
#   none expected: 1 (No tool calls expected); one expected: 0 (Unexpected extra tools: delete)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit vitest-evals@0.16.1 vitest@4 >/dev/null

cat >judge.mjs <<'JS'
import { ToolCallJudge } from "vitest-evals/judges";

const removal = { name: "delete", arguments: { path: "notes.txt" } };
const look = { name: "look", arguments: {} };
const seen = [];
for (const [name, expectedTools, toolCalls] of [
  ["none expected", [], [removal]],
  ["one expected", ["look"], [look, removal]],
]) {
  const judge = ToolCallJudge({ expectedTools, allowExtras: false });
  const { score, metadata } = await judge.assess({ input: "", output: "", toolCalls });
  seen.push(`${name}: ${score} (${metadata.rationale})`);
}
console.log(seen.join("; "));
JS
seen=$(node judge.mjs)
expected='none expected: 1 (No tool calls expected); one expected: 0 (Unexpected extra tools: delete)'
echo "$seen"
[ "$seen" = "$expected" ]
