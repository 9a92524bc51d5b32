#!/usr/bin/env bash
# A run that Vitest fails because of an unhandled error is a success in its JSON report, and has no failure in JUnit XML, TAP and CTRF.
#
# Versions: vitest 4.1.12, @d2t/vitest-ctrf-json-reporter 1.3.0, vitest-llm-reporter 1.2.2 (npm).
# Behaviour: An agent that does not wait for one of its tools answers before the tool fails. The test of the answer passes, and the rejected promise is an unhandled error.
# Vitest prints it and ends with status 1, as documented. Of its reports, none has it: in JSON, `success` is true and there is no field for such errors, JUnit XML has
# the attribute `errors` with 0, and TAP has only the test. Reporters are given these errors, and vitest-llm-reporter has a failure for it. The documentation
# of the reporters does not mention them. A check of the report alone passes the agent. Vitest 5.1.2, which needs Node.js 22 and is not checked
# here, has the error in JUnit XML, while JSON and TAP are the same.
# Guess before the run: an error outside of the tests, as JUnit XML can have, and success false.
# Seen (one test, which passes, and one error):
#   status 1; junit: 1 test, 0 failures, 0 errors; json: success true, 0 failed; tap: 0 not ok; ctrf: 1 passed, 0 failed; vitest-llm-reporter: 1 failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund vitest@4.1.12 @d2t/vitest-ctrf-json-reporter@1.3.0 vitest-llm-reporter@1.2.2 >npm.log 2>&1

cat >agent.test.mjs <<'JS'
import { expect, test } from "vitest";

const refund = async () => {
  await null;
  throw new Error("no connection");
};
const agent = async () => {
  refund();
  return "It was refunded.";
};
test("refunds", async () => {
  expect(await agent()).toBe("It was refunded.");
});
JS
cat >vitest.config.mjs <<'JS'
export default {
  test: {
    reporters: ["junit", "json", "tap-flat", "@d2t/vitest-ctrf-json-reporter", ["vitest-llm-reporter", { outputFile: "llm.json" }]],
    outputFile: { junit: "junit.xml", json: "report.json" },
  },
};
JS
status=0
npx vitest run >report.log 2>&1 || status=$?
cat >show.cjs <<'JS'
const { readFileSync } = require("node:fs");
const [root] = readFileSync("junit.xml", "utf8").match(/<testsuites [^>]*>/);
const count = name => root.match(`${name}="(\\d+)"`)[1];
console.log(`junit: tests ${count("tests")}, failures ${count("failures")}, errors ${count("errors")}`);
const json = require("./report.json");
console.log(`json: success ${json.success}, failed ${json.numFailedTests}`);
console.log(`tap: ${readFileSync("report.log", "utf8").match(/^(not )?ok/gm)}`);
const { passed, failed } = require("./ctrf/ctrf-report.json").results.summary;
console.log(`ctrf: passed ${passed}, failed ${failed}`);
console.log(`vitest-llm-reporter: failed ${require("./llm.json").summary.failed}`);
JS
seen="status $status
$(node show.cjs)"
expected='status 1
junit: tests 1, failures 0, errors 0
json: success true, failed 0
tap: ok
ctrf: passed 1, failed 0
vitest-llm-reporter: failed 1'
echo "$seen"
[ "$seen" = "$expected" ]
