#!/usr/bin/env bash
# In judge-audit, what a judge's grade of 3 is worth after the calibration depends on the order of the rows: 2.5 or 3 for the same grades.
#
# Versions: judge-audit 0.1.0, scikit-learn 1.9.1, numpy 2.4.6 (PyPI).
# Behaviour: The calibrator is documented as an isotonic regression of the grades of people on those of the judge, to correct a judge that is consistently too high, for grades on a scale such as 1 to 5.
# On such a scale, most grades occur many times. The regression has to give each grade of the judge one value, the mean of what people gave for it, before it merges
# grades that would fall. Here, the rows of one grade are merged only where they happen to fall in the order of the data. So there are several values for one grade, and which of them
# is used is left to the interpolation. If the rows of a grade are sorted from low to high, it is the highest: the judge's 5 stays 5, though people gave 4.5 for it on average. If they are sorted from
# high to low, the result is right. The calibration error after the correction, which the report gives, is that of these values, for an order that it has shuffled.
# Guess before the run: the values are those of scikit-learn, in each order.
# Seen (20 grades of a judge and of people, in four orders):
#   as recorded: 1, 1.5, 2.5, 4, 4.5; low first: 1, 1.5, 3, 4, 5; high first: 1.5, 2, 2.75, 3.75, 4.5; shuffled: 1.67, 1.67, 2.8, 3.5, 4.67; scikit-learn, each time: 1.5, 2, 2.75, 3.75, 4.5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check judge-audit==0.1.0 scikit-learn==1.9.1 numpy==2.4.6

cat >calibrate.py <<'PY'
import numpy as np
from judge_audit import IsotonicCalibrator
from sklearn.isotonic import IsotonicRegression

judge = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 4)
people = np.array([1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 3.0, 3.0, 2.0, 2.0, 4.0, 3.0, 3.0, 5.0, 3.0, 4.0, 5.0, 5.0, 4.0, 4.0])
grades = [1, 2, 3, 4, 5]
orders = {
    "as recorded": np.arange(20),
    "low first": np.lexsort((people, judge)),
    "high first": np.lexsort((-people, judge)),
    "shuffled": np.random.default_rng(1).permutation(20),
}
print("means of people:", *(people[judge == grade].mean() for grade in grades))
for name, order in orders.items():
    found = IsotonicCalibrator().fit(judge[order], people[order]).transform(grades)
    right = IsotonicRegression().fit(judge[order], people[order]).predict(grades)
    print(f"{name}:", *found.round(2), "scikit-learn:", *right.round(2))
PY
seen=$(python/bin/python calibrate.py)
expected='means of people: 1.5 2.0 2.75 3.75 4.5
as recorded: 1.0 1.5 2.5 4.0 4.5 scikit-learn: 1.5 2.0 2.75 3.75 4.5
low first: 1.0 1.5 3.0 4.0 5.0 scikit-learn: 1.5 2.0 2.75 3.75 4.5
high first: 1.5 2.0 2.75 3.75 4.5 scikit-learn: 1.5 2.0 2.75 3.75 4.5
shuffled: 1.67 1.67 2.8 3.5 4.67 scikit-learn: 1.5 2.0 2.75 3.75 4.5'
echo "$seen"
[ "$seen" = "$expected" ]
