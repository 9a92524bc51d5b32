#!/usr/bin/env bash
# A test of node:test that failed outside of `describe` is missing for four readers of its JUnit report, and the run has passed.
#
# Versions: junit-merge 2.0.0, verify-junit-xml 0.0.3, junit-report-merger 9.0.4, junit-to-ctrf 0.0.14 (npm); the report is that of `node --test`, seen with Node.js 20.20.2.
# Behaviour: With its reporter `junit`, Node.js puts a test that is in no `describe` directly into `testsuites`, and one in a `describe` into a `testsuite`. Many schemas of JUnit XML
# have tests in suites only; the readers accept the report, and read its suites only. junit-merge writes a report without the failure. junit-report-merger keeps the test, but its totals
# are those of the suites, so the root says 0 failures beside a failure. verify-junit-xml, which is to fail for a run with failures, ends with status 0. junit-to-ctrf converts one test. As
# soon as one test is in a `describe`, nothing says that the others were left out. None of the descriptions names this.
# Guess before the run: each reader has two tests, one failed.
# Seen (a test in a `describe` that passes, a test outside that fails; the run ends with status 1):
#   node: 1 failure; junit-merge: 0; junit-report-merger: 1, of 0 in the totals; verify-junit-xml: status 0; junit-to-ctrf: 1 test, 0 failed; inside of a `describe`, all four see it
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund junit-merge@2.0.0 verify-junit-xml@0.0.3 junit-report-merger@9.0.4 junit-to-ctrf@0.0.14 >npm.log 2>&1

cat >outside.test.mjs <<'JS'
import assert from "node:assert/strict";
import { describe, it, test } from "node:test";

describe("orders", () => {
  it("shows an order", () => {});
});
test("refunds an order once", () => assert.equal(2, 1));
JS
cat >inside.test.mjs <<'JS'
import assert from "node:assert/strict";
import { describe, it } from "node:test";

describe("orders", () => {
  it("shows an order", () => {});
  it("refunds an order once", () => assert.equal(2, 1));
});
JS

read_report() {
  local status=0
  node --test --test-reporter=junit "$1.test.mjs" >"$1.xml" || status=$?
  echo "$1: run ended with status $status, $(grep -c '<failure' "$1.xml" || true) failure"
  npx junit-merge -o "$1.merged.xml" "$1.xml" >merge.log
  echo "$1: junit-merge $(grep -c '<failure' "$1.merged.xml" || true)"
  npx jrm "$1.joined.xml" "$1.xml" >jrm.log
  echo "$1: junit-report-merger $(grep -c '<failure' "$1.joined.xml" || true), in the totals $(grep -o '<testsuites[^>]*' "$1.joined.xml" | grep -o 'failures="[0-9]*"')"
  status=0
  npx verify-junit-xml "$1.xml" >verify.log 2>&1 || status=$?
  echo "$1: verify-junit-xml status $status"
  npx junit-to-ctrf "$1.xml" -o "$1.json" >ctrf.log
  echo "$1: junit-to-ctrf $(node -p 'const { tests, failed } = require(process.argv[1]).results.summary; tests + " tests, " + failed + " failed"' "./$1.json")"
}
seen=$(read_report outside && read_report inside)
expected='outside: run ended with status 1, 1 failure
outside: junit-merge 0
outside: junit-report-merger 1, in the totals failures="0"
outside: verify-junit-xml status 0
outside: junit-to-ctrf 1 tests, 0 failed
inside: run ended with status 1, 1 failure
inside: junit-merge 1
inside: junit-report-merger 1, in the totals failures="1"
inside: verify-junit-xml status 1
inside: junit-to-ctrf 2 tests, 1 failed'
echo "$seen"
[ "$seen" = "$expected" ]
