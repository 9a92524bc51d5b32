#!/usr/bin/env bash
# In deepsig, the paired bootstrap test does not keep the pairs: a model that is better at all of 50 tasks has a p-value of 0.27.
#
# Versions: deepsig 1.2.8, numpy 2.4.6, scipy 1.17.1 (PyPI).
# Behaviour: `bootstrap_test` is documented as the paired bootstrap test, and asks for lists of the same length. It draws the tasks of the two models independently of each other,
# so that the score of one model at an easy task is compared with that of the other at a hard one. The difference of the tasks, which a paired test takes out, stays in,
# and the result does not depend on which scores belong together: after the scores of one model are shuffled, the p-value is about the same. A paired test is what one uses for models that
# differ less than the tasks do. The permutation test of the package, which keeps the pairs, and the paired t-test find the difference. The power analysis of the package has the same mix-up the
# other way round: its default is documented as Welch's test, and is the paired t-test of scores that were drawn independently.
# Guess before the run: the p-values of the pairs are like those of the paired t-test.
# Seen (50 tasks; scores of one model, and of another that has 0.01 more or more at each; then one of both shuffled):
#   paired: bootstrap 0.27, permutation 0.0005, t-test < 0.0001; shuffled: bootstrap 0.27, permutation 0.27, t-test 0.26
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check deepsig==1.2.8 numpy==2.4.6 scipy==1.17.1

cat >pairs.py <<'PY'
import numpy as np
from deepsig import bootstrap_test, permutation_test
from scipy.stats import ttest_rel

random = np.random.default_rng(1)
other = random.uniform(0.2, 0.8, 50)
better = other + random.uniform(0.01, 0.03, 50)
for name, scores in [("paired", better), ("shuffled", random.permutation(better))]:
    found = {
        "bootstrap": bootstrap_test(scores, other, num_samples=2000, seed=1),
        "permutation": permutation_test(scores, other, num_samples=2000, seed=1),
        "t-test": ttest_rel(scores, other, alternative="greater").pvalue,
    }
    print(f"{name}, better at {sum(scores > other)} of 50 tasks:", *(f"{test} {value:.4f}" for test, value in found.items()))
PY
seen=$(python/bin/python pairs.py)
expected='paired, better at 50 of 50 tasks: bootstrap 0.2720 permutation 0.0005 t-test 0.0000
shuffled, better at 30 of 50 tasks: bootstrap 0.2730 permutation 0.2699 t-test 0.2590'
echo "$seen"
[ "$seen" = "$expected" ]
