#!/usr/bin/env bash
# In statsmodels, judges that give no rating agree with each other, so that their kappa rises from 0.06 to 0.53.
#
# Versions: statsmodels 0.15.0, numpy 2.4.6 (PyPI).
# Behaviour: `fleiss_kappa` needs the number of raters in each category, and `aggregate_raters` is there to count them. A missing rating, which is NaN in a table of numbers,
# is counted as a category of its own, as numpy finds it among the distinct values. Two judges that could not answer about an item agree about it. Judges that rate at random
# become judges of moderate agreement by failing on the same half of the items, as they do if an answer is too long, or a server is down. A single judge that fails
# is in disagreement with the others. The documentation has the categories with non-zero counts, and does not mention missing ratings.
# Guess before the run: an error, or the items without ratings left out.
# Seen (three judges that rate 30 items at random from 1 to 3; 30 further items that none of them rates; categories, then kappa):
#   30 items: 1 2 3, 0.06; 60 items: 1 2 3 nan, 0.53; three judges that always agree, of which one fails on 10 of 30 items: 1 2 3 nan, 0.68
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check statsmodels==0.15.0 numpy==2.4.6

cat >judges.py <<'PY'
import numpy as np
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

missing = np.nan
draws = np.random.default_rng(0)
random = draws.integers(1, 4, (30, 3)).astype(float)
agreed = np.repeat(draws.integers(1, 4, (30, 1)), 3, axis=1).astype(float)
failing = agreed.copy()
failing[:10, 2] = missing
for name, ratings in (
    ("at random", random),
    ("and 30 without ratings", np.vstack([random, np.full((30, 3), missing)])),
    ("always agreed", agreed),
    ("one fails on 10", failing),
):
    counts, categories = aggregate_raters(ratings)
    print(f"{name}: categories {' '.join(f'{category:.0f}' for category in categories)}, kappa {fleiss_kappa(counts):.2f}")
PY
seen=$(python/bin/python judges.py)
expected='at random: categories 1 2 3, kappa 0.06
and 30 without ratings: categories 1 2 3 nan, kappa 0.53
always agreed: categories 1 2 3, kappa 1.00
one fails on 10: categories 1 2 3 nan, kappa 0.68'
echo "$seen"
[ "$seen" = "$expected" ]
