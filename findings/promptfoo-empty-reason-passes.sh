#!/usr/bin/env bash
# In promptfoo, an assertion that fails without a reason makes its test pass, although another assertion fails.
#
# Versions: promptfoo 0.121.20 (npm).
# Behaviour: code in JavaScript may return a result with `pass`, `score` and `reason`. A test fails if one of its assertions has a reason to; the
# last one that failed is asked. If its reason is empty, the whole test passes, and the score of 0 is not looked at.
# Seen, for `contains` that fails, the same with a failing assertion with an empty reason, and with the reason `no`:
#   fail: Expected output to contain "coffee"; pass; fail: no
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
  - vars: { answer: tea }
    assert: [{ type: contains, value: coffee }]
  - vars: { answer: tea }
    assert: [{ type: contains, value: coffee }, { type: javascript, value: "({ pass: false, score: 0, reason: '' })" }]
  - vars: { answer: tea }
    assert: [{ type: contains, value: coffee }, { type: javascript, value: "({ pass: false, score: 0, reason: 'no' })" }]
YAML
evaluate
seen=$(verdicts)
echo "$seen"
[ "$seen" = 'fail: Expected output to contain "coffee"; pass; fail: no' ]
