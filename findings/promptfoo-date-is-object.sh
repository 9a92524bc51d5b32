#!/usr/bin/env bash
# In promptfoo, a date that is not in quotes equals `{}`, and not itself; one that is not in the calendar is text.
#
# Versions: promptfoo 0.121.20 (npm).
# Behaviour: YAML readers give dates to programs as dates, which promptfoo then copies like any object: no entry is left. `equals` compares
# with `{}`, and a prompt shows `[object Object]`. 2024-02-30 is no date, so that it is compared as it is written.
# Seen, for the answers 2024-01-01 and {} to `equals: 2024-01-01`, a prompt with that date, and 2024-02-30:
#   fail: Expected output "2024-01-01" to equal "{}"; pass; pass; pass
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
  - vars: { answer: '2024-01-01' }
    assert: [{ type: equals, value: 2024-01-01 }]
  - vars: { answer: '{}' }
    assert: [{ type: equals, value: 2024-01-01 }]
  - vars: { answer: 'on {{day}}', day: 2024-01-01 }
    assert: [{ type: equals, value: 'on [object Object]' }]
  - vars: { answer: '2024-02-30' }
    assert: [{ type: equals, value: 2024-02-30 }]
YAML
evaluate
seen=$(verdicts)
echo "$seen"
[ "$seen" = 'fail: Expected output "2024-01-01" to equal "{}"; pass; pass; pass' ]
