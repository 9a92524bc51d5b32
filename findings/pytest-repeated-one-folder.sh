#!/usr/bin/env bash
# With pytest-repeated, all runs of a test share one folder, so an agent that succeeds once succeeds in all further runs.
#
# Versions: pytest-repeated 0.3.10, pytest-repeat 0.9.4, pytest 9.2.0 (PyPI).
# Behaviour: The marker runs the body of the test several times with the fixtures of the first run, and tests how often it passed against a null hypothesis.
# A fixture like `tmp_path` is made for each test by pytest, and for each repetition by pytest-repeat. Here what the first run wrote is there for the
# others, so they are not independent, which the statistical test takes for granted. The other way round, a run that breaks what a fixture
# prepared breaks all later ones. And a skip in the last of the runs makes a test skipped that failed in all others, and the session successful.
# The documentation says that the code is run n times, and does not mention fixtures.
# Guess before the run: one of 20 passes, as the agent writes its file in the first run only; a test that failed 19 times has failed.
# Seen (20 runs, null hypothesis 0.5):
#   pytest-repeat: 1 passed, 19 failed; pytest-repeated: 20 out of 20, p=0.000, passed; in new folders: 1 out of 20, p=1.000, failed
#   19 failures and then a skip: skipped, status 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pytest-repeated==0.3.10 pytest-repeat==0.9.4 pytest==9.2.0

cat >test_agent.py <<'PY'
import pytest

runs = []


def agent(folder):
    runs.append(folder)
    if len(runs) == 1:
        (folder / "answer.txt").write_text("42")


@pytest.mark.repeat(20)
def test_repeat(tmp_path):
    agent(tmp_path)
    assert (tmp_path / "answer.txt").exists()


@pytest.mark.repeated(times=20, H0=0.5)
def test_repeated(tmp_path):
    agent(tmp_path)
    assert (tmp_path / "answer.txt").exists()


@pytest.mark.repeated(times=20, H0=0.5)
def test_new_folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    agent(folder)
    assert (folder / "answer.txt").exists()


@pytest.mark.repeated(times=20, H0=0.5)
def test_skip():
    runs.append(None)
    if len(runs) == 20:
        pytest.skip("no quota left")
    assert runs == []
PY
for name in repeat repeated new_folders skip; do
  status=0
  python/bin/python -m pytest -p no:cacheprovider --basetemp=runs -W ignore -rA "test_agent.py::test_$name" >run.log || status=$?
  { echo "$name: status $status, $(tail -1 run.log | sed -E 's/ in .*//; s/^=+ //')"; grep -m1 'runs passed' run.log || true; } >>seen
  grep -oE '\(p=[0-9.]+\)' run.log | head -1 >>seen || true
done
cat seen
diff seen - <<'TEXT'
repeat: status 1, 19 failed, 1 passed
repeated: status 0, 1 passed
20 out of 20 runs passed
(p=0.000)
new_folders: status 1, 1 failed
1 out of 20 runs passed
(p=1.000)
skip: status 0, 1 skipped
TEXT
