#!/usr/bin/env bash
# In EvalBridge, a challenger that is right in 1000 of 1000 cases does not win against a baseline with 500 at a minimum confidence of 0.97, and one with 82 of 100 wins against 70.
#
# Versions: evalbridge 0.1.0, numpy 2.4.6, scipy 1.17.1 (PyPI).
# Behaviour: An experiment is ready if it has enough samples and the confidence reaches `min_confidence`. With the method `sequential`, made for looking at results as they come, the confidence is 0.96 as soon as the
# sequential test decides, however clear the difference is. As long as the test says that there is not enough evidence, the confidence is the Bayesian probability that one model is better, and can be higher than that. So
# with a minimum of 0.97, an experiment can be ready only before the test decides. The same rates with more samples, or a clearer difference, make it inconclusive, for good. With the default minimum of 0.95, it is ready in
# both cases, so that what the sequential test says does not matter. The README has the method as one of three, and no bound of its confidence.
# Guess before the run: the more samples with the same rates, and the clearer the difference, the higher the confidence; ready only if the sequential test decided.
# Seen (minimum 0.97, baseline and challenger):
#   sequential: 70 and 82 of 100: 0.977, ready; 700 and 820 of 1000: 0.96, inconclusive; 500 and 1000 of 1000: 0.96, inconclusive; bayesian: 0.977, 1, 1, ready each time
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check evalbridge==0.1.0 numpy==2.4.6 scipy==1.17.1

cat >winner.py <<'PY'
from evalbridge import Experiment
from evalbridge.stats import SequentialTest


def predictions(right, total):
    truth = [1, 0] * (total // 2)
    return truth, [0.9 if bool(label) == (number < right) else 0.1 for number, label in enumerate(truth)]


for samples, baseline, challenger in [(100, 70, 82), (1000, 700, 820), (1000, 500, 1000)]:
    decision = SequentialTest(min_effect=0.01).update(baseline, samples, challenger, samples)
    print(f"{baseline} and {challenger} of {samples}, sequential test: {decision}")
    for method in ("sequential", "bayesian"):
        experiment = Experiment("agents", method=method, min_confidence=0.97, min_samples=100)
        experiment.log("baseline", *predictions(baseline, samples))
        experiment.log("challenger", *predictions(challenger, samples))
        result = experiment.evaluate()
        print(f"  {method}: confidence {result.confidence:.3f}, winner {result.winner}, ready {result.ready}")
PY
seen=$(python/bin/python winner.py)
expected='70 and 82 of 100, sequential test: continue
  sequential: confidence 0.977, winner challenger, ready True
  bayesian: confidence 0.977, winner challenger, ready True
700 and 820 of 1000, sequential test: challenger_wins
  sequential: confidence 0.960, winner inconclusive, ready False
  bayesian: confidence 1.000, winner challenger, ready True
500 and 1000 of 1000, sequential test: challenger_wins
  sequential: confidence 0.960, winner inconclusive, ready False
  bayesian: confidence 1.000, winner challenger, ready True'
echo "$seen"
[ "$seen" = "$expected" ]
