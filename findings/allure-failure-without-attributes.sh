#!/usr/bin/env bash
# Allure shows a failed JUnit test as passed if its `failure` has a text and no attribute.
#
# Versions: allure 3.18.0 (npm).
# Behaviour: `message` and `type` are optional in JUnit XML, and several writers put everything into the text. Allure knows a `failure` that is
# empty and one that has attributes. One with only a text is neither, and the test is passed; so is one with only a text in `error`.
# The counts in the attributes of `testsuite` are not read.
# Seen:
#   only-text passed, error-only-text passed, empty failed, with-message failed; 2 of 4 passed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund allure@3.18.0 >npm.log 2>&1

mkdir results
cat >results/report.xml <<'XML'
<testsuite name="s" tests="4" failures="3" errors="1">
  <testcase name="only-text" classname="s" time="0.1"><failure>expected 4, got 5</failure></testcase>
  <testcase name="error-only-text" classname="s" time="0.1"><error>connection refused</error></testcase>
  <testcase name="empty" classname="s" time="0.1"><failure/></testcase>
  <testcase name="with-message" classname="s" time="0.1"><failure message="expected 4, got 5">expected 4, got 5</failure></testcase>
</testsuite>
XML
npx allure generate ./results --output ./report >allure.log 2>&1

seen=$(node -e '
const fs = require("fs");
const folder = "report/data/test-results/";
const tests = fs.readdirSync(folder).map((file) => JSON.parse(fs.readFileSync(folder + file)));
const { stats } = JSON.parse(fs.readFileSync("report/summary.json"));
console.log(tests.map((test) => test.name + " " + test.status).sort().join(", "), "|", stats.passed, "of", stats.total)')
expected='empty failed, error-only-text passed, only-text passed, with-message failed | 2 of 4'
echo "$seen"
[ "$seen" = "$expected" ]
