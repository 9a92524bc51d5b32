#!/usr/bin/env bash
# test-results-parser counts tests that Vitest and Jest skipped as passed, and a run in which every test was skipped has passed.
#
# Versions: test-results-parser 0.4.6, vitest 4.1.12, jest 30.5.2, jest-junit 17.0.0 (npm).
# Behaviour: the totals of a run are taken from the attributes of `testsuites`, if it has any. JUnit XML has no schema that everybody follows, and the
# reporters of Vitest and Jest write the number of skipped tests at each `testsuite` only. The parser takes the absent number for 0, and what
# has not failed for passed. The totals of its suites and its test cases, from the same file, say skipped. A suite of evaluations that skips itself
# without a key of a model looks complete.
# Seen (one test passes and two are skipped; then all three are skipped; totals and status of the run, then of its only suite):
#   vitest: 3 passed, 0 skipped, PASS; suite 1 passed, 2 skipped; jest: the same; all skipped: 3 passed, 0 skipped, PASS; suite 0 passed, 3 skipped, SKIP
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund test-results-parser@0.4.6 vitest@4.1.12 jest@30.5.2 jest-junit@17.0.0 >npm.log 2>&1

mkdir vitest skipped jest
tests='test("adds", () => expect(1 + 1).toBe(2));
test.skip("searches", () => {});
test.skip("books", () => {});'
import='import { expect, test } from "vitest";'
printf '%s\n' "$import" "$tests" >vitest/tools.test.mjs
printf '%s\n' "$import" "${tests/test(/test.skip(}" >skipped/tools.test.mjs
echo "$tests" >jest/tools.test.js
for run in vitest skipped; do
  npx vitest run --dir "$run" --reporter=junit --outputFile="$run.xml" >"$run.log" 2>&1
done
JEST_JUNIT_OUTPUT_FILE=jest.xml npx jest --rootDir jest --reporters=jest-junit >jest.log 2>&1

cat >read.cjs <<'JS'
const { parse } = require("test-results-parser");
const totals = ({ passed, skipped, status }) => `${passed} passed, ${skipped} skipped, ${status}`;
for (const name of ["vitest", "jest", "skipped"]) {
  const run = parse({ type: "junit", files: [`${name}.xml`] });
  process.stdout.write(`${name}: ${totals(run)}; suite ${totals(run.suites[0])}; `);
}
JS
seen=$(node read.cjs)
echo "$seen"
expected='vitest: 3 passed, 0 skipped, PASS; suite 1 passed, 2 skipped, PASS; '
expected+='jest: 3 passed, 0 skipped, PASS; suite 1 passed, 2 skipped, PASS; '
expected+='skipped: 3 passed, 0 skipped, PASS; suite 0 passed, 3 skipped, SKIP; '
[ "$seen" = "$expected" ]
