#!/usr/bin/env bash
# In the TAP of pytest, a test whose fixture fails afterwards is ok, and so is a test that failed with "Unexpected success" in its message.
#
# Versions: pytest-tap 3.5, pytest 9.1.1 (PyPI). With pytest 9.2.0, pytest-tap 3.5 cannot be loaded.
# Behaviour: pytest reports the setup of a test, its call and its teardown. pytest-tap, documented to output the results of pytest as TAP, writes the first two, so an error in a teardown, such as a
# check that an agent left no process or file behind, is not in the output: all tests are ok and the plan is kept, while pytest ends with status 1, and has an error in JUnit XML. A consumer of TAP
# passes such a run. A failure with the words "Unexpected success" anywhere in its text is taken for that of a unittest with `expectedFailure`, and becomes ok with a TODO.
# Guess before the run: not ok for both.
# Seen (a test whose teardown fails, and one that fails with such a message): TAP: ok, ok # TODO; pytest: status 1, JUnit with one failure, and one error of a teardown
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pytest==9.1.1 pytest-tap==3.5

cat >test_agent.py <<'PY'
import pytest


@pytest.fixture
def folder(tmp_path):
    yield tmp_path
    assert not list(tmp_path.iterdir()), "the agent left files behind"


def test_cleans_up(folder):
    (folder / "draft.txt").touch()


def test_refuses_refund():
    refused = False
    assert refused, "Unexpected success of the refund"
PY
status=0
python/bin/pytest --tap -p no:cacheprovider --junitxml report.xml >tap.txt 2>&1 || status=$?
seen=$(
    grep -v '^#' tap.txt
    echo "status $status, JUnit: $(grep -o 'errors="[0-9]*" failures="[0-9]*"' report.xml)"
    grep -o '<error message="[^&]*' report.xml
)
expected='1..2
ok 1 test_agent.py::test_cleans_up
ok 2 test_agent.py::test_refuses_refund # TODO unexpected success
status 1, JUnit: errors="1" failures="1"
<error message="failed on teardown with '
echo "$seen"
[ "$seen" = "$expected" ]
