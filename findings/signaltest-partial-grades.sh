#!/usr/bin/env bash
# signaltest takes the partial grade of Inspect for a full one: an agent that was right, and is half right in all samples, has no regression.
#
# Versions: signaltest 0.7.0, inspect_ai 0.3.285 (PyPI).
# Behaviour: Scorers of Inspect give C for correct, P for partial and I for incorrect. For Inspect, P is 0.5 in the accuracy. `scores_from_inspect_log` of
# signaltest reads the log of Inspect for `compare_scores`, which decides whether a candidate is worse than a baseline, and makes 1.0 of both C and P. So
# the accuracy in the log and the mean of the scores that were read from it differ, and a loss of half of the accuracy passes. Half of the samples right
# and the other half wrong is the same accuracy, and fails. Neither the function nor the description says what becomes of P.
# Seen (20 samples each, a baseline of 20 times C):
#   20 P: accuracy 0.5, mean of the scores 1.0, pass, no significant regression; 10 C and 10 I: accuracy 0.5, mean 0.5, fail
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check signaltest==0.7.0 inspect_ai==0.3.285

cat >grades.py <<'PY'
from statistics import fmean

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver
from signaltest import compare_scores
from signaltest.adapters import scores_from_inspect_log


@solver
def answers():
    async def solve(state, generate):
        state.output.completion = "Paris, perhaps."
        return state

    return solve


@scorer(metrics=[accuracy()])
def rubric():
    async def score(state, target):
        return Score(value=state.metadata["grade"])

    return score


def run(grades):
    dataset = [Sample(input="What is the capital of France?", metadata={"grade": grade}) for grade in grades]
    log = eval(Task(dataset=dataset, solver=answers(), scorer=rubric()), model="mockllm/model", display="none", log_dir="logs")[0]
    return log.results.scores[0].metrics["accuracy"].value, scores_from_inspect_log(log, "rubric")


_, baseline = run("C" * 20)
for name, grades in [("20 P", "P" * 20), ("10 C and 10 I", "CI" * 10)]:
    value, scores = run(grades)
    verdict = compare_scores(baseline, scores)
    print(f"{name}: accuracy {value}, mean {fmean(scores)}, {verdict.status}, {verdict.reason}", end="; ")
PY
seen=$(python/bin/python grades.py 2>python.log)
expected='20 P: accuracy 0.5, mean 1.0, pass, no significant regression; '
expected+='10 C and 10 I: accuracy 0.5, mean 0.5, fail, significant regression past the effect floor; '
echo "$seen"
[ "$seen" = "$expected" ]
