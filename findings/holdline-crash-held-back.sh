#!/usr/bin/env bash
# In holdline, an agent that crashes held back whenever it should, and the gate for that passes.
#
# Versions: holdline 0.2.1 (PyPI).
# Behaviour: A case may expect that the agent abstains or hands over. The report, and the option `min_withheld` of the gate, have the share of these cases in which
# it did, described as how often the agent held back when it should. It is every outcome other than an answer, and an empty output is an abstention. So a run
# that ended in an exception held back, though the case has failed, as its run has. A service that refuses all requests has the best rate that there
# is, and an agent that answers one of ten where it should not is the worse one.
# Seen (ten cases that expect an abstention, a gate of 0.95):
#   agent abstains: passed 1.0, held back 1.0, gate PASS; agent answers once: passed 0.9, held back 0.9, gate FAIL;
#   agent crashes: passed 0.0, held back 1.0, gate PASS
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check holdline==0.2.1

cat >agents.py <<'PY'
from holdline.gate import GateConfig, gate
from holdline.runner import run
from holdline.suite import Case, Suite

suite = Suite("refunds", [Case(id=f"case {number}", input=number, expected={"outcome": "abstain"}) for number in range(10)])


def abstains(number):
    return {"outcome": "abstain", "answer": "I do not know."}


def answers_once(number):
    return {"outcome": "answer", "answer": "Yes."} if number == 3 else abstains(number)


def crashes(number):
    raise ConnectionError("no connection")


for agent in (abstains, answers_once, crashes):
    found = run(agent, suite)
    decision = gate(found, config=GateConfig(min_withheld=0.95))
    print(f"{agent.__name__}: passed {found.summary['pass_rate']}, held back {found.summary['withheld_when_should']}, gate {decision.verdict}", end="; ")
PY
seen=$(python/bin/python agents.py)
expected='abstains: passed 1.0, held back 1.0, gate PASS; answers_once: passed 0.9, held back 0.9, gate FAIL; '
expected+='crashes: passed 0.0, held back 1.0, gate PASS; '
echo "$seen"
[ "$seen" = "$expected" ]
