#!/usr/bin/env bash
# In vitest-evals, fuzzy arguments of a tool call match another order number, one letter of it, and an empty text.
#
# Versions: vitest-evals 0.16.1 (npm).
# Behaviour: With `params: "fuzzy"`, texts match if one contains the other, in either direction: `1` and the empty text match the order `A-1182`.
# Numbers match within a thousandth: order 118299 is order 118200. Arguments that were not expected are ignored. An option of the judge
# changes each of these, but its default is what "fuzzy" means: a refund for the wrong order passes.
# Seen:
#   empty text 1; one letter 1; other number 1; other text 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit vitest-evals@0.16.1 vitest@4 >/dev/null

cat >judge.mjs <<'JS'
import { ToolCallJudge } from "vitest-evals/judges";

const seen = [];
for (const [name, expected, order] of [
  ["empty text", "A-1182", ""],
  ["one letter", "A-1182", "1"],
  ["other number", 118200, 118299],
  ["other text", "A-1182", "A-1183"],
]) {
  const judge = ToolCallJudge({ params: "fuzzy", expectedTools: [{ name: "refund", arguments: { order: expected } }] });
  const toolCalls = [{ name: "refund", arguments: { order } }];
  const { score } = await judge.assess({ input: "", output: "", toolCalls });
  seen.push(`${name} ${score}`);
}
console.log(seen.join("; "));
JS
seen=$(node judge.mjs)
expected='empty text 1; one letter 1; other number 1; other text 0'
echo "$seen"
[ "$seen" = "$expected" ]
