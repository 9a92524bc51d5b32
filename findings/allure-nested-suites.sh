#!/usr/bin/env bash
# Allure finds no test in a JUnit file whose suites are nested, and calls the report passed.
#
# Versions: allure 3.18.0 (npm).
# Behaviour: PHPUnit and others write suites within suites. Only test cases one level below `testsuites`, or directly in the root, are read;
# nothing says that others were left out. In the same file, cases next to a nested suite are read, so that a report is silently partial.
# Seen:
#   nested: 0 tests, status passed
#   partial: 1 test, status passed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund allure@3.18.0 >npm.log 2>&1

mkdir nested partial
failed='<testsuite name="inner" tests="1" failures="1"><testcase name="a" classname="s" time="0.1"><failure message="m" type="t">x</failure></testcase></testsuite>'
passed='<testcase name="b" classname="s" time="0.1"/>'
echo "<testsuites><testsuite name=\"outer\" tests=\"1\" failures=\"1\">$failed</testsuite></testsuites>" >nested/report.xml
echo "<testsuites><testsuite name=\"outer\" tests=\"2\" failures=\"1\">$passed$failed</testsuite></testsuites>" >partial/report.xml

seen=''
for name in nested partial; do
    npx allure generate "./$name" --output "./report-$name" >allure.log 2>&1
    seen+=$(node -p "
const { stats, status } = JSON.parse(require('fs').readFileSync('report-$name/summary.json'));
'$name: ' + stats.total + ' tests, ' + status + '; '")
done
expected='nested: 0 tests, passed; partial: 1 tests, passed; '
echo "$seen"
[ "$seen" = "$expected" ]
