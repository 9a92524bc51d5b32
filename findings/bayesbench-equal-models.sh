#!/usr/bin/env bash
# In bayesbench, one of two equal models is better with a confidence of 95 % in 8 of 20 studies.
#
# Versions: bayesbench 0.4.0.dev0, numpy 2.4.6, scipy 1.17.1 (PyPI). The models are functions of the script.
# Behaviour: The package asks two models one question after the other, and stops as soon as the probability that one is better reaches the confidence. It looks after each question from the
# fifth on, and every look is a chance that random answers differ enough. The description promises the same rigorous conclusions for a
# part of the costs, and calls the confidence a statistical one. One look, after the last question, gives about one equal pair in ten a probability of 95 % for one or the other. With
# more questions there are more looks, and more of the equal models are told apart. The result is `converged`, with the better model first.
# Guess before the run: at most 2 of 20 studies.
# Seen (two models that answer rightly with probability 0.7; studies of 40 questions):
#   converged in 8 of 20, after 6, 6, 7, 7, 16, 17, 23 and 28 questions; with a single look at the end: 1 of 20
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check bayesbench==0.4.0.dev0 numpy==2.4.6 scipy==1.17.1

cat >studies.py <<'PY'
import numpy as np
from bayesbench import BayesianRanker


def ranked(answers, **options):
    ranker = BayesianRanker(confidence=0.95, **options)
    for name, right in zip("AB", answers):
        ranker.add_model(name, lambda question, right=right: bool(right[question]))
    return ranker.rank(dataset=range(answers.shape[1]), score_fn=lambda question, right: right)


studies = [np.random.default_rng(study).random((2, 40)) < 0.7 for study in range(20)]
for name, options in (("a look after each question", {}), ("a look at the end", {"min_samples": 40})):
    found = [result.problems_tested for result in (ranked(answers, **options) for answers in studies) if result.converged]
    print(f"{name}: {len(found)} of {len(studies)}, after", *sorted(found))
PY
seen=$(python/bin/python studies.py)
expected='a look after each question: 8 of 20, after 6 6 7 7 16 17 23 28
a look at the end: 1 of 20, after 40'
echo "$seen"
[ "$seen" = "$expected" ]
