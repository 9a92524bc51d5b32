#!/usr/bin/env bash
# In siggate, a candidate that is better in 4 of 200 answers, and worse in none, is a real improvement; by the exact test of the library below it, the p-value is 0.125.
#
# Versions: siggate 0.1.1, deltagate 0.1.1, numpy 2.4.6 (PyPI).
# Behaviour: The gate calls a change REAL if its p-value is below alpha, 0.05 by default. For answers that are right or wrong, only those count in which the models differ. If there are four,
# they fall in 16 ways that are equally likely for models of the same quality, and in 2 of them all four are on one side. The gate takes the mean of the differences to be normal, which
# it is not for four of them, and gets 0.03 to 0.05, however many other answers there are. Its second condition, an interval by bootstrap, agrees. So of models that differ in four answers by
# chance, one in eight is REAL: an improvement that passes, or a regression that fails. deltagate, whose statistics the gate uses, has the exact test, and says that it is the right one
# for few differences; the gate does not use it. The description calls the power analysis approximate for few samples. For 2000, a flag says that the models are nearly the same.
# Guess before the run: not significant, as one needs six of six for a p-value below 0.05.
# Seen (4 answers differ; all 16 ways; then the label and p-value of the gate if all 4 are better, and the exact p-value, for 20, 200 and 2000 answers):
#   REAL in 2 of 16; 20: REAL 0.029, 0.125; 200: REAL 0.044, 0.125; 2000: REAL 0.045, 0.125
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check siggate==0.1.1 deltagate==0.1.1 numpy==2.4.6

cat >gate.py <<'PY'
from itertools import product

import siggate
from deltagate import mcnemar_from_scores


def answers(ways, number):
    """Baseline and candidate differ in the first answers, and are right in half of the others."""
    same = [position % 2 for position in range(number - len(ways))]
    return [1 - way for way in ways] + same, [*ways] + same


labels = [siggate.compare(*answers(ways, 200)).label for ways in product((0, 1), repeat=4)]
print(f"REAL in {labels.count('REAL')} of {len(labels)}")
for number in (20, 200, 2000):
    baseline, candidate = answers((1, 1, 1, 1), number)
    verdict = siggate.compare(baseline, candidate, n_boot=1000)
    exact = mcnemar_from_scores(candidate, baseline).p_value
    print(f"{number}: {verdict.label} {verdict.p_value:.3f}, exact {exact:.3f}; rules that fail the gate: {siggate.failures(verdict, siggate.GateConfig().fail_on)}")
PY
seen=$(python/bin/python gate.py)
expected='REAL in 2 of 16
20: REAL 0.029, exact 0.125; rules that fail the gate: []
200: REAL 0.044, exact 0.125; rules that fail the gate: []
2000: REAL 0.045, exact 0.125; rules that fail the gate: []'
echo "$seen"
[ "$seen" = "$expected" ]
