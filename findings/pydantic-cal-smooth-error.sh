#!/usr/bin/env bash
# In pydantic-cal, a judge that is calibrated perfectly has a larger smooth calibration error than one that is off by 0.03.
#
# Versions: pydantic-cal 0.0.4, numpy 2.4.6 (PyPI).
# Behaviour: The smooth error is documented as a calibration error without bins, in which small gaps stay visible. For each claimed confidence, it takes the mean of the results around it,
# weighted by a bell of width 0.1, and its distance to the confidence. The confidences around it are not weighted. So for a judge that says 0.4 and 0.6, and is right so often, the
# rate near 0.4 is drawn up by the items at 0.6: (0.4 + 0.6 w) / (1 + w) with w = exp(-2), a distance of 0.024, however many items there are. A judge that is right in 0.37 and 0.63 of
# these cases is drawn to where it claims to be, and has 0.001. So the error prefers the second. If the differences of result and confidence are weighted by the same bell, as in the
# paper that the package cites, the first judge has exactly 0. The error with bins is as one expects.
# Guess before the run: 0 for the first, and more for the second.
# Seen (2000 items; the error with bins, the smooth error, the one with weighted differences):
#   right in 0.4 and 0.6: 0.000, 0.024, 0.000; right in 0.37 and 0.63: 0.030, 0.001, 0.023
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pydantic-cal==0.0.4 numpy==2.4.6

cat >smooth.py <<'PY'
import numpy as np
from pydantic_cal import ece, smece


def weighted_differences(confidences, right, width=0.1):
    weights = np.exp(-((confidences[:, None] - confidences) ** 2) / (2 * width**2))
    return np.abs(weights @ (right - confidences) / weights.sum(axis=1)).mean()


for rates in ((0.4, 0.6), (0.37, 0.63)):
    confidences = np.repeat((0.4, 0.6), 1000)
    right = np.concatenate([np.arange(1000) < round(rate * 1000) for rate in rates]).astype(float)
    errors = (measure(confidences, right) for measure in (ece, smece, weighted_differences))
    print(f"right in {rates}:", *(f"{error:.3f}" for error in errors))
PY
seen=$(python/bin/python smooth.py)
expected='right in (0.4, 0.6): 0.000 0.024 0.000
right in (0.37, 0.63): 0.030 0.001 0.023'
echo "$seen"
[ "$seen" = "$expected" ]
