#!/usr/bin/env bash
# `junitparser verify` passes a report of a run that pytest failed.
#
# Versions: junitparser 5.0.3, pytest 9.2.0 (PyPI).
# Behaviour: `verify` promises a non-zero exit code if one of the test cases failed or errored. A test that skips itself and whose fixture then
# fails to clean up is one test case with `skipped` and `error` in pytest's report; the suite counts one of each, and pytest exits with 1. `verify`
# counts every test case with a `skipped` as passed, and exits with 0. `is_error` of the same test case is true.
# Seen:
#   pytest: exit 1, 1 skipped, 1 error; test case: skipped True, error True; verify: exit 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check junitparser==5.0.3 pytest==9.2.0

cat >test_refund.py <<'PY'
import pytest


@pytest.fixture
def shop():
    yield
    raise RuntimeError("the shop still has open orders")


def test_refund(shop):
    pytest.skip("no model is configured")
PY
status=0
python/bin/pytest --quiet --junitxml=report.xml >pytest.log || status=$?
found="pytest: exit $status, $(tail -n 1 pytest.log | sed 's/ in .*//')"
found+="; test case: $(python/bin/python -c '
from junitparser import JUnitXml
[case] = [case for suite in JUnitXml.fromfile("report.xml") for case in suite]
print(f"skipped {case.is_skipped}, error {case.is_error}")')"
status=0
python/bin/junitparser verify report.xml || status=$?
seen="$found; verify: exit $status"
echo "$seen"
[ "$seen" = 'pytest: exit 1, 1 skipped, 1 error; test case: skipped True, error True; verify: exit 0' ]
