#!/usr/bin/env bash
# gpt-tokenizer estimates the input of gpt-5 at eight times its price, and gpt-4o, gpt-4.1 and gpt-5 at one price, that of gpt-4-turbo.
#
# Versions: gpt-tokenizer 4.0.0 (npm), litellm 1.110.2 (PyPI), of which only the table of prices is read.
# Behaviour: the package counts tokens of OpenAI's models, and has `estimateCost` with prices that its README calls comprehensive. In its table, 10 and 30
# dollars per million tokens, the price of gpt-4-turbo, are those of gpt-4o, gpt-4.1 and gpt-5, and o3 has the price of o1. OpenAI's list has a price for
# each, and so have other tables, of which litellm's is compared here. Of the models in both tables, more than half differ. The small ones have no
# price, and the function throws. So a limit of costs stops an evaluation far below what it allows, and a cheaper model looks as dear as the one
# before it.
# Seen (dollars per million tokens, input and output, gpt-tokenizer then litellm):
#   gpt-4-turbo: 10/30 10/30; gpt-4o: 10/30 2.5/10; gpt-4.1: 10/30 2/8; gpt-5: 10/30 1.25/10; o3: 15/60 2/8; gpt-4: 30/60 30/60
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund gpt-tokenizer@4.0.0 >npm.log 2>&1
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-deps litellm==1.110.2
cp python/lib/python3*/site-packages/litellm/model_prices_and_context_window_backup.json prices.json

cat >compare.mjs <<'JS'
import { readFileSync } from "node:fs";

const prices = JSON.parse(readFileSync("prices.json", "utf8"));
for (const name of ["gpt-4-turbo", "gpt-4o", "gpt-4.1", "gpt-5", "o3", "gpt-4"]) {
  const { estimateCost } = await import(`gpt-tokenizer/model/${name}`);
  const { input, output } = estimateCost(1_000_000).main;
  const [trueInput, trueOutput] = ["input", "output"].map((kind) => +(prices[name][`${kind}_cost_per_token`] * 1e6).toFixed(2));
  process.stdout.write(`${name}: ${input}/${output} ${trueInput}/${trueOutput}; `);
}
JS
seen=$(node compare.mjs)
echo "$seen"
expected='gpt-4-turbo: 10/30 10/30; gpt-4o: 10/30 2.5/10; gpt-4.1: 10/30 2/8; gpt-5: 10/30 1.25/10; o3: 15/60 2/8; gpt-4: 30/60 30/60; '
[ "$seen" = "$expected" ]
