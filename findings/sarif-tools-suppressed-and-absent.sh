#!/usr/bin/env bash
# sarif-tools counts results that are suppressed, and results that are gone, as issues.
#
# Versions: sarif-tools 3.0.5 (PyPI).
# Behaviour: a tool marks a result with `suppressions` if somebody accepted it, and with `baselineState: absent` if an earlier run had it and
# this one does not. Both count like new errors in the summary; so `--check error` fails for a file with nothing to do. A result
# with `kind: pass` is in a fourth class, `none`, even if its rule says `error`.
# Seen:
#   error: 2 (accepted, gone), none: 1 (a pass), exit status 2 of `--check error`
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check sarif-tools==3.0.5

cat >report.sarif <<'JSON'
{
  "version": "2.1.0",
  "runs": [
    {
      "tool": { "driver": { "name": "lint", "rules": [{ "id": "R1", "defaultConfiguration": { "level": "error" } }] } },
      "results": [
        { "ruleId": "R1", "ruleIndex": 0, "level": "error", "suppressions": [{ "kind": "external", "status": "accepted" }], "message": { "text": "accepted" }, "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "a.py" }, "region": { "startLine": 1 } } }] },
        { "ruleId": "R1", "ruleIndex": 0, "level": "error", "baselineState": "absent", "message": { "text": "gone" }, "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "a.py" }, "region": { "startLine": 2 } } }] },
        { "ruleId": "R1", "ruleIndex": 0, "kind": "pass", "message": { "text": "a pass" }, "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "a.py" }, "region": { "startLine": 3 } } }] }
      ]
    }
  ]
}
JSON
status=0
python/bin/sarif --check error summary report.sarif >summary.txt 2>&1 || status=$?
seen="$(grep -E '^(error|none): ' summary.txt | tr '\n' ' ')exit $status"
echo "$seen"
[ "$seen" = 'error: 2 none: 1 exit 2' ]
