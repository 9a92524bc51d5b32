#!/usr/bin/env bash
# A test that cargo-nextest calls failed is passed in CTRF.
#
# Versions: junit-to-ctrf 0.0.14 (npm). The file is what cargo-nextest 0.9.143 writes with `retries = 1` and `flaky-result = "fail"` for a test
# that fails and then passes: a `failure` for the verdict and a `flakyFailure` for the first attempt, in one `testcase`. Names are shortened.
# Behaviour: one `flakyFailure` makes the test passed, whatever else the case has. The text of the failure is kept as its message.
# Seen:
#   summary: tests 1, passed 1, failed 0, flaky 1
#   test: passed, message "test passed on attempt 2/2 but is configured to fail when flaky"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund junit-to-ctrf@0.0.14 >npm.log 2>&1

cat >report.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="1" skipped="0" failures="1" errors="0" time="0.341">
    <testsuite name="words" tests="1" skipped="0" errors="0" failures="1">
        <testcase name="second_attempt_passes" classname="words" time="0.015">
            <failure message="test passed on attempt 2/2 but is configured to fail when flaky" type="flaky failure"/>
            <flakyFailure time="0.323" message="panicked at src/lib.rs:1:133" type="test failure with exit code 101">first attempt</flakyFailure>
        </testcase>
    </testsuite>
</testsuites>
XML
npx junit-to-ctrf report.xml --output report.json >convert.log

seen=$(node -e '
const { summary, tests } = require("./report.json").results;
console.log(summary.tests, summary.passed, summary.failed, summary.flaky, tests[0].status, "|", tests[0].message)')
expected='1 1 0 1 passed | test passed on attempt 2/2 but is configured to fail when flaky'
echo "$seen"
[ "$seen" = "$expected" ]
