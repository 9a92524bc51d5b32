#!/usr/bin/env bash
# In scikit-learn and statsmodels, a judge that gives 2 for 5 has the weighted kappa of one that gives 2 for 1, and it falls by further items that are agreed on.
#
# Versions: scikit-learn 1.9.1, statsmodels 0.15.0, numpy 2.4.6 (PyPI).
# Behaviour: Weighted kappa counts how far two grades are apart. Both packages take the distance between the places of the grades among those that occur, and not between the
# grades. On a scale from 1 to 5 of which only 1, 2 and 5 are used, 2 and 5 are neighbours, so that a judge which is three grades off seems to be one grade off. If both give a 3 and a 4
# to two further items, 2 and 5 are three grades apart, and the agreement falls, though the items are agreed on. scikit-learn documents that without `labels`, the labels that appear are
# used to index the matrix, and statsmodels has `bins` for the table; that the weights depend on them, neither says. With all five grades given, agreed items raise
# the value.
# Guess before the run: less agreement for 2 instead of 5 than for 2 instead of 1, and more with two further items of the same grade.
# Seen (12 items to which people give 1, 2 or 5; the judge gives 2 for two of the 5; scikit-learn, statsmodels, scikit-learn with the labels 1 to 5):
#   0.857, 0.857, 0.697; 2 for two of the 1 instead: 0.857, 0.857, 0.969; 2 for two of the 5, and 3 and 4 from both: 0.719, 0.719, 0.719
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check scikit-learn==1.9.1 statsmodels==0.15.0 numpy==2.4.6

cat >kappa.py <<'PY'
import numpy as np
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa, to_table

grades = [1, 2, 3, 4, 5]
people = [1] * 4 + [2] * 4 + [5] * 4
judge = [1] * 4 + [2] * 4 + [5, 5, 2, 2]
cases = {
    "2 for two of the 5": (people, judge),
    "2 for two of the 1": (people, [1, 1, 2, 2] + [2] * 4 + [5] * 4),
    "2 for two of the 5, and both give 3 and 4": (people + [3, 4], judge + [3, 4]),
}
for name, (first, second) in cases.items():
    values = (
        cohen_kappa_score(first, second, weights="quadratic"),
        cohens_kappa(to_table(np.column_stack([first, second]))[0], wt="quadratic").kappa,
        cohen_kappa_score(first, second, weights="quadratic", labels=grades),
    )
    print(f"{name}:", *(f"{value:.3f}" for value in values))
PY
seen=$(python/bin/python kappa.py)
expected='2 for two of the 5: 0.857 0.857 0.697
2 for two of the 1: 0.857 0.857 0.969
2 for two of the 5, and both give 3 and 4: 0.719 0.719 0.719'
echo "$seen"
[ "$seen" = "$expected" ]
