#!/usr/bin/env bash
# In JUnit reports of node:test, a test that fails itself after its subtests is missing, and a known fault that does not fail the run is the only failure.
#
# Versions: @reporters/junit 2.1.3, node-test-junit-reporter 2.0.1 (npm). The reporter `junit` of Node.js 20.20.2 does the same; it is not checked here.
# Behaviour: A test with subtests is a suite in the report. @reporters/junit counts the failures of its children only, node-test-junit-reporter writes the
# innermost tests only. So the assertion that follows the steps of a conversation leaves no trace if it fails, and neither does a failed after hook. A
# test that is marked as todo may fail without failing the run; it has a failure in both reports, and @reporters/junit also calls it skipped.
# @reporters/mocha had the same fault with hooks (issue 300 of its project), which is mended there.
# Guess before the run: two failures, and the known fault skipped, as Node.js prints it.
# Seen (a test that fails after its subtest, a suite whose after hook fails, a known fault; Node.js ends with status 1 because of the first two):
#   both: 1 of 3 failed, "known fault"; without the known fault: 0 of 2 failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @reporters/junit@2.1.3 node-test-junit-reporter@2.0.1 >npm.log 2>&1

cat >failures.mjs <<'JS'
import assert from "node:assert";
import { after, describe, it, test } from "node:test";

test("refund", async (t) => {
  await t.test("the agent answers", () => {});
  assert.equal("open", "refunded");
});
describe("basket", () => {
  after(() => {
    throw new Error("1 item left");
  });
  it("the agent answers", () => {});
});
if (process.env.KNOWN) test("known fault", { todo: true }, () => assert.equal(1, 2));
JS
for known in 1 ""; do
  for reporter in @reporters/junit node-test-junit-reporter; do
    status=0
    KNOWN=$known node --test --test-reporter="$reporter" --test-reporter-destination=report.xml failures.mjs || status=$?
    python3 - "$reporter" "$status" <<'PY' >>seen
import sys
import xml.etree.ElementTree as tree

cases = list(tree.parse("report.xml").iter("testcase"))
failed = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
print(f"{sys.argv[1]}: status {sys.argv[2]}, {len(failed)} of {len(cases)} failed", *failed)
PY
  done
done
cat seen
diff seen - <<'TEXT'
@reporters/junit: status 1, 1 of 3 failed known fault
node-test-junit-reporter: status 1, 1 of 3 failed known fault
@reporters/junit: status 1, 0 of 2 failed
node-test-junit-reporter: status 1, 0 of 2 failed
TEXT
