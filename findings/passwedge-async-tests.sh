#!/usr/bin/env bash
# With passwedge, an async test that is to succeed in 20 of 20 attempts passes without being run, and with anyio it is run once.
#
# Versions: passwedge 0.0.1a2, pytest 9.2.0, anyio 4.16.0 (PyPI).
# Behaviour: The marker `passk` runs a test as often as `attempts` says, and holds the number of successes against pass@k and pass^k. The test is called, and
# counts as a success unless the call raises. The call of an async function only makes a coroutine, which nobody awaits, so every attempt is one. Without
# the marker, pytest fails such a test, as it needs a plugin for async functions. With the marker of anyio, whose plugin is there as soon as anyio is, as
# with the clients of OpenAI and Anthropic, the test runs, but once: anyio answers first, and no threshold is looked at.
# Seen (an agent that is right in the first of its runs, and wrong in all others; pass^1 of at least 0.9 in 20 attempts):
#   sync: 20 runs, failed; async: 0 runs, passed; async with anyio: 1 run, passed; async without passk: failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check passwedge==0.0.1a2 pytest==9.2.0 anyio==4.16.0

cat >test_agent.py <<'PY'
from collections import Counter

import pytest

runs = Counter()
reliable = pytest.mark.passk(attempts=20, k=1, min_pass_pow_k=0.9)


def agent(kind):
    runs[kind] += 1
    return "Paris" if runs[kind] == 1 else "Rome"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@reliable
def test_sync():
    assert agent("sync") == "Paris"


@reliable
async def test_async():
    assert agent("async") == "Paris"


@pytest.mark.anyio
@reliable
async def test_anyio():
    assert agent("anyio") == "Paris"


async def test_without_passk():
    assert agent("without passk") == "Paris"


def test_runs():
    print("runs:", *(f"{kind} {runs[kind]}" for kind in ("sync", "async", "anyio")))
PY
python/bin/python -m pytest -p no:cacheprovider -q -s -rA >pytest.log 2>&1 || true
verdicts=$(sed -nE 's/^(PASSED|FAILED) test_agent.py::test_([a-z_]+).*/\2 \1/p' pytest.log | grep -v '^runs ' | sort | tr '\n' ';')
seen="$(grep -o 'runs: .*' pytest.log); $verdicts"
echo "$seen"
[ "$seen" = 'runs: sync 20 async 0 anyio 1; anyio PASSED;async PASSED;sync FAILED;without_passk FAILED;' ]
