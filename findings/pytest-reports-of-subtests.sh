#!/usr/bin/env bash
# With pytest 9, tests of which a subtest failed are passed in the report of pytest-beacon, and have "subtests passed" in that of pytest-json-report.
#
# Versions: pytest-beacon 0.6.0, pytest-json-report 1.5.0, pytest 9.2.0, pytest-xdist 3.8.0 (PyPI), without which pytest-beacon runs no test.
# Behaviour: pytest 9 reports each subtest by itself, under the name of its test, and then the rest of the test, which has failed for pytest's own fixture, and passed for
# `unittest`. In both cases, the run fails. Both plugins keep one outcome per test. That of pytest-beacon is passed for both, so its report has no failure
# of subtests, beside the counts of pytest that have them. pytest-json-report takes the last outcome that is not an ordinary one. For `unittest`, the next
# subtest hides the failed one; all stages of the test are passed, and the summary has no failure for it. An ordinary test that fails is failed in both.
# Guess before the run: three failed tests in both reports.
# Seen (three tests that pytest fails, two of them with three subtests, of which the second fails; status of pytest 1):
#   pytest-beacon: 2 passed, 1 failed; only the plain test failed;
#   pytest-json-report: 2 failed, 1 "subtests passed"; unittest "subtests passed", fixture and plain test failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pytest-beacon==0.6.0 pytest-json-report==1.5.0 pytest==9.2.0 pytest-xdist==3.8.0

cat >test_refunds.py <<'PY'
import unittest

AMOUNTS = [1, 20, 3]


class Refunds(unittest.TestCase):
    def test_unittest(self):
        for amount in AMOUNTS:
            with self.subTest(amount=amount):
                self.assertLess(amount, 10)


def test_fixture(subtests):
    for amount in AMOUNTS:
        with subtests.test(amount=amount):
            assert amount < 10


def test_plain():
    assert max(AMOUNTS) < 10
PY
status=0
python/bin/pytest -q --json-report --beacon --beacon-file="$folder/beacon.json" --beacon-file-exclude-status= >pytest.log || status=$?
cat >show.py <<'PY'
import json


def show(name, summary, outcomes):
    print(f"{name}: {summary}", *(f"{test.split('::')[-1]} {outcome}" for test, outcome in outcomes))


report = json.load(open("beacon.json"))["results"]
summary = {key: report["summary"][key] for key in ["tests", "passed", "failed"]}
show("pytest-beacon", summary, [(test["name"], test["status"]) for test in report["tests"]])
report = json.load(open(".report.json"))
show("pytest-json-report", report["summary"], [(test["nodeid"], test["outcome"]) for test in report["tests"]])
PY
seen="status $status
$(python/bin/python show.py)"
expected="status 1
pytest-beacon: {'tests': 3, 'passed': 2, 'failed': 1} test_unittest passed test_fixture passed test_plain failed
pytest-json-report: {'subtests passed': 1, 'failed': 2, 'total': 3, 'collected': 3} test_unittest subtests passed test_fixture failed test_plain failed"
echo "$seen"
[ "$seen" = "$expected" ]
