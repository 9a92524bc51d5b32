#!/usr/bin/env bash
# In MemberJunction's testing engine, a failed status contains a successful one, and a pattern that is written as documented matches every answer.
#
# Versions: @memberjunction/testing-engine 5.51.3 (npm).
# Behaviour: The oracle `exact-match` has modes. With `contains`, the answer must have the expected fields, but their values are not looked at, nor those of
# texts: each text contains each other. With `regex`, patterns are read from a text, from a list of texts and from `responsePatterns`. The documentation of
# the class writes the pattern into the field `pattern`, which is none of these, so that there are no patterns, and all of them match. The
# options to ignore case and white space have no effect in the exact mode, which compares the JSON of both values as it is.
# Seen (mode, expected, answer):
#   contains {status: success} {status: failed}: passed; contains Paris Rome: passed; regex {pattern: Paris} Rome: passed, all 0 patterns matched;
#   exact without case Paris paris: failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm pack --silent @memberjunction/testing-engine@5.51.3 >npm.log
tar -xzf memberjunction-testing-engine-5.51.3.tgz

cat >oracle.mjs <<'JS'
import { ExactMatchOracle } from "./package/dist/oracles/ExactMatchOracle.js";

const oracle = new ExactMatchOracle();
for (const [config, expectedOutput, actualOutput] of [
  [{ mode: "contains" }, { status: "success" }, { status: "failed" }],
  [{ mode: "contains" }, "Paris", "Rome"],
  [{ mode: "regex" }, { pattern: "Paris" }, { response: "Rome" }],
  [{ mode: "regex" }, { responsePatterns: ["Paris"] }, { response: "Rome" }],
  [{ mode: "exact", caseSensitive: false }, "Paris", "paris"],
]) {
  const { passed, message } = await oracle.evaluate({ expectedOutput, actualOutput }, config);
  console.log(JSON.stringify(expectedOutput), JSON.stringify(actualOutput), config.mode, passed, message);
}
JS
seen=$(node oracle.mjs)
expected='{"status":"success"} {"status":"failed"} contains true Output contains all expected fields
"Paris" "Rome" contains true Output contains all expected fields
{"pattern":"Paris"} {"response":"Rome"} regex true All 0 pattern(s) matched
{"responsePatterns":["Paris"]} {"response":"Rome"} regex false 1 of 1 pattern(s) failed
"Paris" "paris" exact false Output does not match expected'
echo "$seen"
[ "$seen" = "$expected" ]
