#!/usr/bin/env bash
# In statsmodels and mlxtend, McNemar's test of two models with the same answers has a p-value of 0.
#
# Versions: statsmodels 0.15.0, mlxtend 0.25.0, numpy 2.4.6 (PyPI).
# Behaviour: The test looks at the questions that only one of two models has right. The correction for continuity subtracts 1 from the difference of their numbers before it is squared and divided by
# their sum. If there is no such question, that is 1 divided by 0: the statistic is infinite, the p-value 0, and a candidate that answers every question like
# the baseline is the most significant difference that there can be. The correction is the default of both; the distribution that needs it is that of mlxtend, and
# in statsmodels `exact=False`. Without the correction it is 0 divided by 0, so not a number, which no comparison with 0.05 takes for significant. The exact test has 1. The
# documentation of both does not mention the case. numpy warns of a division by zero.
# Guess before the run: a p-value of 1, or an error.
# Seen (200 questions, 120 of them right for both; discordant questions, then p-values):
#   none: statsmodels exact 1.000, default correction 0.000, no correction nan; mlxtend default 0.000, no correction nan, exact 1.000; one each: 1.000, 0.480, 1.000; 0.480, 1.000, 1.000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check statsmodels==0.15.0 mlxtend==0.25.0 numpy==2.4.6

cat >same.py <<'PY'
import numpy as np
from mlxtend.evaluate import mcnemar as mlxtend
from mlxtend.evaluate import mcnemar_table
from statsmodels.stats.contingency_tables import mcnemar as statsmodels

truth = np.ones(200, int)
baseline = np.repeat([1, 0], [120, 80])
swapped = baseline.copy()
swapped[[0, -1]] = swapped[[-1, 0]]
for name, candidate in (("none", baseline.copy()), ("one each", swapped)):
    table = mcnemar_table(truth, baseline, candidate)
    print(
        f"{name}: statsmodels exact {statsmodels(table).pvalue:.3f}, corrected {statsmodels(table, exact=False).pvalue:.3f}, "
        f"not corrected {statsmodels(table, exact=False, correction=False).pvalue:.3f}; "
        f"mlxtend {mlxtend(table)[1]:.3f}, not corrected {mlxtend(table, corrected=False)[1]:.3f}, exact {mlxtend(table, exact=True)[1]:.3f}"
    )
PY
seen=$(python/bin/python -W ignore same.py)
expected='none: statsmodels exact 1.000, corrected 0.000, not corrected nan; mlxtend 0.000, not corrected nan, exact 1.000
one each: statsmodels exact 1.000, corrected 0.480, not corrected 1.000; mlxtend 0.480, not corrected 1.000, exact 1.000'
echo "$seen"
[ "$seen" = "$expected" ]
