#!/usr/bin/env bash
# In TokenLens, a prompt from the cache costs more than one that is not cached.
#
# Versions: tokenlens 1.3.1 (npm), with its own table of prices.
# Behaviour: In the usage of the OpenAI API, `cached_tokens` is a part of `prompt_tokens`; in that of the AI SDK, `cachedInputTokens` is a part of
# `inputTokens`. `getTokenCosts` reads both, as its documentation says, and adds the price of the cached tokens to the full price of all input
# tokens. 10,000 tokens of which 9,000 are cached cost 2.45 cents instead of 0.65, and a call costs more the more of its
# prompt is cached.
# Seen (GPT-4.1: 2 dollars a million input tokens, 0.50 cached, 8 output):
#   OpenAI: not cached 0.0208, cached 0.0253; AI SDK: not cached 0.0208, cached 0.0253
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund tokenlens@1.3.1 >npm.log 2>&1

cat >costs.mjs <<'JS'
import { getTokenCosts } from "tokenlens";

const cost = (usage) => getTokenCosts({ modelId: "openai/gpt-4.1", usage }).totalUSD.toFixed(4);
const openai = (cached_tokens) => ({ prompt_tokens: 10_000, completion_tokens: 100, total_tokens: 10_100, prompt_tokens_details: { cached_tokens } });
const sdk = (cachedInputTokens) => ({ inputTokens: 10_000, outputTokens: 100, totalTokens: 10_100, cachedInputTokens });
const seen = [];
for (const [name, usage] of [["OpenAI", openai], ["AI SDK", sdk]]) {
  seen.push(`${name}: not cached ${cost(usage(0))}, cached ${cost(usage(9_000))}`);
}
console.log(seen.join("; "));
JS
seen=$(node costs.mjs)
expected='OpenAI: not cached 0.0208, cached 0.0253; AI SDK: not cached 0.0208, cached 0.0253'
echo "$seen"
[ "$seen" = "$expected" ]
