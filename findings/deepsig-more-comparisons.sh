#!/usr/bin/env bash
# In deepsig, the correction for many comparisons gets smaller with their number, and of three equal p-values of 0.04 one stays significant.
#
# Versions: deepsig 1.2.8, numpy 2.4.6 (PyPI).
# Behaviour: The description says that the significance level is divided by the number of comparisons, which is the correction of Bonferroni, and gives `num_comparisons` of the test of
# almost stochastic order for it. The level of 0.05 is not divided: the confidence of 0.95 is raised by 0.05 / n. For two comparisons that is 0.975, as it should be. For ten it is 0.955
# instead of 0.995, and for a hundred 0.9505, nearly no correction. `multi_aso` does the same for all pairs of models. `bonferroni_correction`, documented as that method for
# p-values, multiplies the smallest by n, the next by n - 1 and the largest by 1. That is the start of Holm's method, whose second half is missing: no p-value may be smaller than
# the ones before it. So equal p-values are corrected to different ones, and a larger p-value can be significant where a smaller one is not.
# Guess before the run: the bound of ten comparisons is that of a confidence of 0.995, and each of three p-values of 0.04 becomes 0.12.
# Seen (upper bound of the violation ratio for 20 scores of two models; below 0.5, the first one is better):
#   1 comparison 0.46; 2: 0.54; 10: 0.47; 100: 0.46; with the level divided for ten: 0.70; for a hundred: 0.89; p-values 0.04 0.04 0.04: 0.12 0.08 0.04
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check deepsig==1.2.8 numpy==2.4.6

cat >comparisons.py <<'PY'
import numpy as np
from deepsig import aso, bonferroni_correction

random = np.random.default_rng(8)
better, other = random.normal(0.52, 0.1, 20), random.normal(0.5, 0.1, 20)


def bound(**options):
    return f"{aso(better, other, seed=1, num_bootstrap_iterations=200, show_progress=False, **options):.2f}"


for number in (1, 2, 10, 100):
    print(f"{number} comparisons: {bound(num_comparisons=number)}, with a level of 0.05 / {number}: {bound(confidence_level=1 - 0.05 / number)}")
for values in ([0.04, 0.04, 0.04], [0.02, 0.024, 0.03]):
    print(*values, "are", *(f"{value:.3f}" for value in bonferroni_correction(values)))
PY
seen=$(python/bin/python comparisons.py)
expected='1 comparisons: 0.46, with a level of 0.05 / 1: 0.46
2 comparisons: 0.54, with a level of 0.05 / 2: 0.54
10 comparisons: 0.47, with a level of 0.05 / 10: 0.70
100 comparisons: 0.46, with a level of 0.05 / 100: 0.89
0.04 0.04 0.04 are 0.120 0.080 0.040
0.02 0.024 0.03 are 0.060 0.048 0.030'
echo "$seen"
[ "$seen" = "$expected" ]
