#!/usr/bin/env bash
# In promptfoo, a schema with `$id` works once in a run: a second test with the same schema fails.
#
# Versions: promptfoo 0.121.20 (npm).
# Behaviour: all assertions share a validator, which refuses a second schema with an identifier that it knows, also if it is the same one. Which of
# two equal tests passes depends on their order.
# Seen, sorted:
#   fail: Error: schema with key or id "https://example.org/card" already exists; pass
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts promptfoo@0.121.20 >npm.log 2>&1
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_DISABLE_REMOTE_GENERATION=1 PROMPTFOO_CONFIG_DIR="$folder/config"
evaluate() {
  npx promptfoo eval -c config.yaml -o results.json --no-cache --no-write --no-table --no-progress-bar --no-share >promptfoo.log 2>&1 || true
}
verdicts() {
  node -p 'const { results } = require("./results.json").results;
results.sort((a, b) => a.testIdx - b.testIdx).map(({ success, error }) => success ? "pass" : "fail: " + error.split("\n")[0]).join("; ")'
}

cat >config.yaml <<'YAML'
prompts: ['{{answer}}']
providers: [echo]
tests:
  - vars: { answer: '{}' }
    assert: [{ type: is-json, value: { $id: 'https://example.org/card', type: object } }]
  - vars: { answer: '{}' }
    assert: [{ type: is-json, value: { $id: 'https://example.org/card', type: object } }]
YAML
evaluate
seen=$(verdicts | sed 's/; /\n/' | sort | paste -sd ';' | sed 's/;/; /')
echo "$seen"
[ "$seen" = 'fail: Error: schema with key or id "https://example.org/card" already exists; pass' ]
