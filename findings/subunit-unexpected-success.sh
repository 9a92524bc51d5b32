#!/usr/bin/env bash
# In subunit, a known fault that is mended fails the run of stestr and unittest, and is a success in the statistics, the table and the list of failures of the same run.
#
# Versions: python-subunit 1.4.6, stestr 4.2.1, junitxml 0.7, nose2 0.16.0 (PyPI).
# Behaviour: A test with `expectedFailure` that passes is an unexpected success, which fails the run of unittest, so that somebody removes the mark. The stream of subunit has a status of its own
# for it, and stestr, which stores it, ends with status 1. Of the programs of subunit that read the stored run, the one for JUnit has a failure, the statistics, documented to end with an error if a
# test failed, count it as passed and end with status 0, and the table calls it "success", though its program ends with status 1. `stestr failing`, documented to show the current failures known, shows none, and says that the run passed. The
# runner of subunit ends with status 0. In nose2 the run passes, too, and the test is skipped in its JUnit report.
# Guess before the run: one failure everywhere.
# Seen (a test that passes, and one that is expected to fail and passes):
#   unittest: status 1; stestr run: status 1; stestr failing: PASSED, 0; subunit-stats: 2 passed, 0; subunit2csv: success; subunit2junitxml: 1 failure, 1; subunit.run: 0; nose2: 0 failures, 1 skipped, 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check python-subunit==1.4.6 stestr==4.2.1 junitxml==0.7 nose2==0.16.0
export PATH=$folder/python/bin:$PATH

mkdir tests
touch tests/__init__.py
cat >tests/test_shop.py <<'PY'
import unittest


class Shop(unittest.TestCase):
    def test_sells(self):
        pass

    @unittest.expectedFailure
    def test_known_fault(self):
        pass
PY
printf '[DEFAULT]\ntest_path=./tests\n' >.stestr.conf

# The status of a command, and what it writes.
told() {
    local name=$1 status=0
    shift
    "$@" >output.txt 2>errors.txt || status=$?
    echo "$name: status $status"
}
seen=$(
    told unittest python -m unittest
    told 'stestr run' stestr run --serial
    told 'stestr failing' stestr failing
    cat output.txt
    stestr last --subunit >run.subunit
    told subunit-stats subunit-stats <run.subunit
    grep -E 'Passed|Failed' output.txt
    told subunit2csv subunit2csv <run.subunit
    cut -d , -f 1-2 output.txt | tail -n 2 | sort
    told subunit2junitxml subunit2junitxml <run.subunit
    grep -o 'failures="[0-9]*"' output.txt
    told subunit.run python -m subunit.run tests.test_shop
    told nose2 nose2 --plugin nose2.plugins.junitxml --junit-xml
    grep -o 'failures="[0-9]*" skipped="[0-9]*"' nose2-junit.xml
)
expected='unittest: status 1
stestr run: status 1
stestr failing: status 0
PASSED (id=0)
subunit-stats: status 0
Passed tests:      2
Failed tests:      0
subunit2csv: status 1
tests.test_shop.Shop.test_known_fault,success
tests.test_shop.Shop.test_sells,success
subunit2junitxml: status 1
failures="1"
subunit.run: status 0
nose2: status 0
failures="0" skipped="1"'
echo "$seen"
[ "$seen" = "$expected" ]
