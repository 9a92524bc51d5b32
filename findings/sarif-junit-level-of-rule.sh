#!/usr/bin/env bash
# A SARIF result whose level comes from its rule is a passed test in JUnit, and a suppressed one is a failed test.
#
# Versions: sarif-junit 1.1.4 (npm).
# Behaviour: SARIF lets a result leave out `level`; it then has the level of its rule's `defaultConfiguration`, or `warning`. The converter only
# looks at the result: without a level it writes a test case without a failure. On the other side, results that are suppressed in the source,
# and results with `baselineState: absent`, which the tool did not find any more, are failures.
# Seen:
#   level error: failed; level of the rule (error): passed; suppressed: failed; absent: failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund sarif-junit@1.1.4 >npm.log 2>&1

cat >report.sarif <<'JSON'
{
  "version": "2.1.0",
  "runs": [
    {
      "tool": { "driver": { "name": "lint", "rules": [{ "id": "R1", "defaultConfiguration": { "level": "error" } }] } },
      "results": [
        { "ruleId": "R1", "ruleIndex": 0, "level": "error", "message": { "text": "explicit" }, "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "a.py" }, "region": { "startLine": 1 } } }] },
        { "ruleId": "R1", "ruleIndex": 0, "message": { "text": "of-the-rule" }, "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "a.py" }, "region": { "startLine": 2 } } }] },
        { "ruleId": "R1", "ruleIndex": 0, "level": "error", "suppressions": [{ "kind": "inSource" }], "message": { "text": "suppressed" }, "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "a.py" }, "region": { "startLine": 3 } } }] },
        { "ruleId": "R1", "ruleIndex": 0, "level": "error", "baselineState": "absent", "message": { "text": "absent" }, "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "a.py" }, "region": { "startLine": 4 } } }] }
      ]
    }
  ]
}
JSON
npx sarif-junit -i report.sarif -o report.xml >convert.log

seen=$(python3 -c '
import xml.etree.ElementTree as tree
for case in tree.parse("report.xml").iter("testcase"):
    print(case.get("name").split()[-1], "passed" if case.find("failure") is None else "failed", end="; ")')
expected='explicit failed; of-the-rule passed; suppressed failed; absent failed; '
echo "$seen"
[ "$seen" = "$expected" ]
