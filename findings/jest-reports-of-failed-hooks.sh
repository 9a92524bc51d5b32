#!/usr/bin/env bash
# If a hook after the tests of a file fails, jest-tap-reporter leaves out all tests of the file, and jest-junit writes a failure that its totals do not count: both runs pass.
#
# Versions: jest 30.5.2, jest-tap-reporter 1.9.0, tap-parser 18.3.4, jest-junit 17.0.0, verify-junit-xml 0.0.3, test-results-parser 0.4.6, junit-to-ctrf 0.0.14, jest-sonar-reporter 2.0.0 (npm).
# Behaviour: A check in `afterAll`, such as one that an agent left no order open, belongs to no test. If it fails, Jest ends with status 1, and has failed the file, but not its tests. jest-tap-reporter
# takes such a file for one that could not be loaded. It writes the error as a comment, and no test of the file, not even one that failed itself. The plan counts what was written, so that
# tap-parser passes a run that failed. jest-junit adds a test case with a failure for the hook, but counts neither in `tests` and `failures` of the file and of the run. verify-junit-xml, made to
# verify that a run was successful, and test-results-parser read the totals, and pass the run; junit-to-ctrf reads the test cases, and fails it. jest-sonar-reporter writes nothing about the hook,
# and a skipped test as one that passed.
# Guess before the run: each report has the tests and a failure, and all readers fail the run.
# Seen (two tests and a failing hook, a test that fails and a failing hook, a test that passes and one that is skipped):
#   TAP: ok 1, ok 2 # SKIP, 1..2, tap-parser status 0; without the test that fails: failures 0 with 1 failure, verify-junit-xml status 0, test-results-parser PASS, junit-to-ctrf 1 failed; sonar: 1 failure, 0 skipped
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund jest@30.5.2 jest-tap-reporter@1.9.0 tap-parser@18.3.4 jest-junit@17.0.0 verify-junit-xml@0.0.3 test-results-parser@0.4.6 \
    junit-to-ctrf@0.0.14 jest-sonar-reporter@2.0.0 >npm.log 2>&1

cat >refund.test.js <<'JS'
afterAll(() => {
  throw new Error("the agent left an order open");
});
test("refunds", () => {});
test("asks for the reason", () => {});
JS
cat >login.test.js <<'JS'
afterAll(() => {
  throw new Error("the agent did not log out");
});
test("logs in", () => {
  expect("refused").toBe("welcome");
});
JS
cat >search.test.js <<'JS'
test("finds", () => {});
test.skip("finds in pictures", () => {});
JS
run() {
    status=0
    "$@" >output.txt 2>errors.txt || status=$?
}
seen=$(
    run npx jest --reporters jest-tap-reporter
    echo "Jest, all files: status $status"
    mv output.txt run.tap
    grep -E '^(not ok|ok|[0-9])' run.tap
    run npx tap-parser run.tap
    echo "tap-parser: status $status"
    run npx jest refund search --reporters jest-junit
    echo "Jest, without the test that fails: status $status"
    echo "jest-junit: $(grep -o 'tests="[0-9]*" failures="[0-9]*"' junit.xml | head -n 1), test cases $(grep -c '<testcase' junit.xml), with a failure $(grep -c '<failure' junit.xml)"
    run npx verify-junit-xml junit.xml
    echo "verify-junit-xml: status $status"
    node -e 'const { parse } = require("test-results-parser"); const run = parse({ type: "junit", files: ["junit.xml"] }); console.log("test-results-parser:", run.status, run.failed, "failed")'
    run npx junit-to-ctrf junit.xml -o ctrf.json
    node -e 'console.log("junit-to-ctrf:", require("./ctrf.json").results.summary.failed, "failed")'
    run npx jest --testResultsProcessor jest-sonar-reporter
    echo "jest-sonar-reporter, all files: failures $(grep -c '<failure' test-report.xml || true), skipped $(grep -c '<skipped' test-report.xml || true)"
)
expected='Jest, all files: status 1
ok 1 — finds
ok 2 # SKIP finds in pictures
1..2
tap-parser: status 0
Jest, without the test that fails: status 1
jest-junit: tests="4" failures="0", test cases 5, with a failure 1
verify-junit-xml: status 0
test-results-parser: PASS 0 failed
junit-to-ctrf: 1 failed
jest-sonar-reporter, all files: failures 1, skipped 0'
echo "$seen"
[ "$seen" = "$expected" ]
