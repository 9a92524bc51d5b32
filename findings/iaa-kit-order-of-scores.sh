#!/usr/bin/env bash
# In iaa-kit, a judge that gives 9 where people give 10 agrees less with them than one that gives 1, and AC2 is weighted kappa.
#
# Versions: iaa-kit 0.1.2, scikit-learn 1.9.1, krippendorff 0.9.0 (PyPI).
# Behaviour: The distance of two labels is that of their places in the list of labels, which is sorted by their text: 1, 10, 2, 3. So 10 is next to 1 and
# eight places from 9. The list has only the labels that occur, and its order cannot be given, so "high", "low" and "medium" have that order, too.
# `ac2` is documented as that of Gwet, which is high if most items are alike; it calls weighted kappa. `alpha_value` uses the squared difference of the
# scores for "ordinal" as for "interval", so one high score that both give outweighs all disagreement.
# Guess before the run: the values of scikit-learn and krippendorff, and an AC2 near AC1.
# Seen (kappa of ten equal pairs from 1 to 10, and of five where people give 10; in brackets that of scikit-learn):
#   9 instead of 10: linear 0.36 (0.90), quadratic 0.16 (0.98); 1 instead of 10: linear 0.90 (0.33), quadratic 0.98 (0.07)
#   19 equal pairs and an unequal one: AC1 0.95, AC2 0.00, kappa 0.00; alpha: ordinal 1.00, interval 1.00 (krippendorff 0.66, 1.00)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check iaa-kit==0.1.2 scikit-learn==1.9.1 krippendorff==0.9.0

cat >order.py <<'PY'
from iaa_kit import ac1, ac2, alpha_value, weighted_kappa
from krippendorff import alpha
from sklearn.metrics import cohen_kappa_score

scores = list(range(1, 11))
for given in (9, 1):
    people, judge = scores + [10] * 5, scores + [given] * 5
    for weights in ("linear", "quadratic"):
        own, other = weighted_kappa(people, judge, weights), cohen_kappa_score(people, judge, weights=weights)
        print(f"{given} instead of 10: {weights} {own:.2f} ({other:.2f})")

people, judge = [2] * 19 + [1], [2] * 20
print(f"AC1 {ac1(people, judge):.2f}, AC2 {ac2(people, judge):.2f}, kappa {weighted_kappa(people, judge):.2f}")

items = [[1, 2], [1, 2], [2, 1], [50, 50], [3, 3], [3, 2]]
for scale in ("ordinal", "interval"):
    print(f"{scale}: {alpha_value(items, scale):.2f} ({alpha(list(zip(*items)), level_of_measurement=scale):.2f})")
PY
seen=$(python/bin/python order.py)
expected='9 instead of 10: linear 0.36 (0.90)
9 instead of 10: quadratic 0.16 (0.98)
1 instead of 10: linear 0.90 (0.33)
1 instead of 10: quadratic 0.98 (0.07)
AC1 0.95, AC2 0.00, kappa 0.00
ordinal: 1.00 (0.66)
interval: 1.00 (1.00)'
echo "$seen"
[ "$seen" = "$expected" ]
