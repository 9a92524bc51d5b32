#!/usr/bin/env bash
# A test file that cannot be loaded is missing from the CTRF reports of Jest and Vitest, and nothing has failed.
#
# Versions: jest-ctrf-json-reporter 0.0.11 with jest 30.5.2, @d2t/vitest-ctrf-json-reporter 1.3.0 with vitest 4.1.12 (npm).
# Behaviour: One of two test files imports a module that is not there. Both runners report one failed file, and exit with 1. A file that cannot be
# loaded has no tests yet, and both reporters look at tests only: the report has the one test of the other file, which passed, and no failure. A
# check of the report alone, as in the CTRF actions, finds that all tests passed.
# Seen:
#   jest: exit 1, tests 1, passed 1, failed 0; vitest: exit 1, tests 1, passed 1, failed 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund jest@30.5.2 jest-ctrf-json-reporter@0.0.11 vitest@4.1.12 @d2t/vitest-ctrf-json-reporter@1.3.0 >npm.log 2>&1

mkdir jest vitest
cat >jest/refund.test.js <<'JS'
test("refund", () => {});
JS
cat >jest/return.test.js <<'JS'
require("./shop.js");
test("return", () => {});
JS
cat >jest/jest.config.json <<'JSON'
{ "reporters": ["default", ["jest-ctrf-json-reporter", { "outputDir": "." }]] }
JSON
cat >vitest/refund.test.mjs <<'JS'
import { test } from "vitest";
test("refund", () => {});
JS
cat >vitest/return.test.mjs <<'JS'
import { test } from "vitest";
import "./shop.mjs";
test("return", () => {});
JS
cat >vitest/vitest.config.mjs <<'JS'
export default { test: { reporters: ["default", ["@d2t/vitest-ctrf-json-reporter", { outputDir: "." }]] } };
JS

run() {
  local runner=$1 status=0
  shift
  cd "$runner"
  npx "$runner" "$@" >run.log 2>&1 || status=$?
  node -p "
    const { tests, passed, failed } = JSON.parse(require('fs').readFileSync('ctrf-report.json', 'utf8')).results.summary;
    \`$runner: exit $status, tests \${tests}, passed \${passed}, failed \${failed}\`"
  cd ..
}
seen="$(run jest --config jest.config.json)
$(run vitest run)"
expected='jest: exit 1, tests 1, passed 1, failed 0
vitest: exit 1, tests 1, passed 1, failed 0'
echo "$seen"
[ "$seen" = "$expected" ]
