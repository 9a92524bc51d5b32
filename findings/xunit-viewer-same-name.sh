#!/usr/bin/env bash
# Xunit Viewer shows four tests of one name as one that passed, though one has failed, and a test that passed as unknown if it wrote to stderr.
#
# Versions: xunit-viewer 10.6.1, vitest 4.1.12 (npm).
# Behaviour: JUnit XML does not require that names differ, and trials of one case have the same, as they do in Vitest here. Xunit Viewer keeps tests by a hash
# of name and class, and each takes the place of the one before. The last status is shown and the messages of all: a tick, and below it the failed
# assertion. The status is the name of the first element inside of the test case, for which only `system-out` is known as that of a test that passed;
# `system-err` is a status of its own, shown as a question mark.
# Seen (three of four trials pass, and a test that passes writes to stderr; Vitest, then Xunit Viewer):
#   1 failed, 4 passed; ✓ answers, ? greets
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund xunit-viewer@10.6.1 vitest@4.1.12 >npm.log 2>&1

cat >trials.test.mjs <<'JS'
import { expect, test } from "vitest";

for (const answer of [4, 4, 5, 4]) {
  test("answers", () => expect(answer).toBe(4));
}
test("greets", () => console.error("a warning"));
JS
export NO_COLOR=1
npx vitest run --reporter=default --reporter=junit --outputFile.junit=junit.xml >vitest.log 2>&1 && exit 1
npx xunit-viewer --results junit.xml --console --clear false --no-color --output page.html >viewer.log 2>&1
seen="$(sed -n 's/^ *Tests  \(.*\) | \(.*\) (.*/\1, \2/p' vitest.log); "
seen+=$(sed -nE 's/^ +([✓✗!⊘?]) ([a-z]+) time=.*/\1 \2/p' viewer.log | paste -sd, | sed 's/,/, /g')
echo "$seen"
[ "$seen" = '1 failed, 4 passed; ✓ answers, ? greets' ]
