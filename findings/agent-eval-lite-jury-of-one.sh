#!/usr/bin/env bash
# In agent-eval-lite, a jury of five judges of which four failed is unanimous, with an agreement of 1.
#
# Versions: agent-eval-lite 0.5.1 (PyPI), which needs nothing else. The judges are functions of the script.
# Behaviour: `JudgeJury` asks several models, to reduce the bias of a single one, and decides by majority. A judge that raises an error, as one whose server is
# down, is left out before the votes are counted: of the judges, the number of votes, the agreement and `unanimous`, described as true if all agree. So the verdict of one judge is unanimous and looks
# surer than that of four against one. If two of five remain that contradict each other, the answer fails, as a tie does, with an agreement of one half, though it is undecided what the
# other three say. The errors are in the list of votes only. If no judge remains, the verdict has neither passed nor failed,
# its `success` is false, and it is unanimous only if there was no judge.
# Guess before the run: not unanimous, or no verdict, without a majority of the five judges.
# Seen (five judges; verdict, votes, agreement, unanimous):
#   four pass, one fails: True, 5 votes, 0.8, False; one passes, four errors: True, 1 vote, 1.0, True; one fails, four errors: False, 1 vote, 1.0, True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check agent-eval-lite==0.5.1

cat >jury.py <<'PY'
from agent_eval import JudgeJury, JudgeProvider
from agent_eval.judge import JudgeResult


def judge(provider):
    if provider.model == "error":
        raise ConnectionError("503 Service Unavailable")
    return JudgeResult(passed=provider.model == "pass")


for votes in ("pass pass pass pass fail", "pass error error error error", "fail error error error error", "pass fail error error error"):
    providers = [JudgeProvider(api_key="none", base_url="none", model=vote) for vote in votes.split()]
    verdict = JudgeJury(providers, parallel=False).judge(judge)
    print(f"{votes}: passed {verdict.passed}, votes {verdict.vote_count}, agreement {verdict.agreement_ratio}, unanimous {verdict.unanimous}")
PY
seen=$(python/bin/python jury.py)
expected='pass pass pass pass fail: passed True, votes 5, agreement 0.8, unanimous False
pass error error error error: passed True, votes 1, agreement 1.0, unanimous True
fail error error error error: passed False, votes 1, agreement 1.0, unanimous True
pass fail error error error: passed False, votes 2, agreement 0.5, unanimous False'
echo "$seen"
[ "$seen" = "$expected" ]
