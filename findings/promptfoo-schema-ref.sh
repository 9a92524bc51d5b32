#!/usr/bin/env bash
# In promptfoo, a reference inside a schema is looked for in the configuration; the same schema as text works.
#
# Versions: promptfoo 0.121.20 (npm).
# Behaviour: `$ref` of a configuration shares parts between tests. It is followed everywhere, also in the schema of `is-json`, where
# `#/definitions/a` means a definition of the schema: the whole evaluation stops. In a schema that is a text, the reference is that of JSON Schema.
# Seen, for the schema as a mapping, then as a text:
#   Missing $ref pointer "#/definitions/a"; pass
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
    assert: [{ type: is-json, value: { $ref: '#/definitions/a', definitions: { a: { type: object } } } }]
YAML
evaluate
[ ! -e results.json ]
seen=$(grep -o "Missing \$ref pointer \"#/definitions/a\"" promptfoo.log | head -1)
cat >config.yaml <<'YAML'
prompts: ['{{answer}}']
providers: [echo]
tests:
  - vars: { answer: '{}' }
    assert: [{ type: is-json, value: '{"$ref": "#/definitions/a", "definitions": {"a": {"type": "object"}}}' }]
YAML
evaluate
seen="$seen; $(verdicts)"
echo "$seen"
# shellcheck disable=SC2016 # the dollar is that of JSON Schema
[ "$seen" = 'Missing $ref pointer "#/definitions/a"; pass' ]
