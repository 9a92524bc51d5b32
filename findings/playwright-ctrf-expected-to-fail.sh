#!/usr/bin/env bash
# A test that Playwright calls failed is passed in CTRF, and one that it calls passed has failed in the summary.
#
# Versions: playwright-ctrf-json-reporter 0.0.29, @playwright/test 1.65.1 (npm); no browser is needed.
# Behaviour: `test.fail()` marks a known fault: the test has to fail. If it does, Playwright counts it as passed and exits with 0. The report lists it
# as passed, but counts it as failed in `summary`. If the fault is mended, Playwright counts the test as failed and exits with 1. The report lists it and
# counts it as passed. With one of each, the summary is right and both tests are listed as passed.
# Seen:
#   still there: exit 0, test passed, summary passed 0, failed 1; mended: exit 1, test passed, summary passed 1, failed 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund playwright-ctrf-json-reporter@0.0.29 @playwright/test@1.65.1 >npm.log 2>&1

cat >known.spec.mjs <<'JS'
import { expect, test } from "@playwright/test";

test("still there", () => {
  test.fail();
  expect("refused").toBe("refunded");
});
test("mended", () => {
  test.fail();
  expect("refunded").toBe("refunded");
});
JS
cat >playwright.config.mjs <<'JS'
export default { reporter: [["line"], ["playwright-ctrf-json-reporter", { outputDir: "." }]] };
JS
cat >counts.cjs <<'JS'
const { summary, tests } = require("./ctrf-report.json").results;
console.log(`test ${tests[0].status}, summary passed ${summary.passed}, failed ${summary.failed}`);
JS
seen=
for name in 'still there' mended; do
  status=0
  npx playwright test --grep "$name" >playwright.log 2>&1 || status=$?
  seen+="$name: exit $status, $(node counts.cjs); "
done
echo "$seen"
[ "$seen" = 'still there: exit 0, test passed, summary passed 0, failed 1; mended: exit 1, test passed, summary passed 1, failed 0; ' ]
