#!/usr/bin/env bash
# In autorank, the intervals of models whose results are normal are those of a level of 5 %, whatever level is asked for.
#
# Versions: autorank 1.3.0, matplotlib 3.11.2, numpy 2.4.6, pandas 3.1.1, statsmodels 0.15.0 (PyPI).
# Behaviour: `alpha` is documented as the level that all results together keep, the intervals included, and the plot of Tukey's test as one of intervals whose family-wise level is alpha. For three
# models or more, Tukey's test is called without it, so that its own default of 5 % applies. The report names the level that was asked for, gives those intervals, and says which models differ because
# their intervals do not overlap. So with a level of 0.1 %, a difference is significant that is not, and with 20 % one is missed. The other tests of the package use alpha.
# Guess before the run: the intervals of 0.1 % are wider than those of 5 %.
# Seen (three models, 30 tasks; what the report says, and what Tukey's test says for that level):
#   20 %: intervals of 0.60, right are 0.44; 5 %: 0.60, 0.60; 0.1 %: 0.60, 0.94, and two pairs of models differ instead of one
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check autorank==1.3.0 numpy==2.4.6 pandas==3.1.1 statsmodels==0.15.0

cat >levels.py <<'PY'
import contextlib
import io
import re

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")
from autorank import autorank, create_report
from statsmodels.stats.multicomp import MultiComparison

random = np.random.default_rng(2)
results = pd.DataFrame({model: random.normal(mean, 1, 30) for model, mean in [("a", 0), ("b", 0.5), ("c", 1)]})
for alpha in (0.2, 0.05, 0.001):
    with contextlib.redirect_stdout(io.StringIO()):
        result = autorank(results, alpha=alpha)
    assert result.posthoc == "tukeyhsd"
    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        create_report(result)
    level = re.search(r"family-wise significance level of the tests is (alpha=[\d.]+\d)", report.getvalue())[1]
    groups = re.search(r"within the following groups?: (.*?)\.", report.getvalue())[1]
    width = (result.rankdf.ci_upper - result.rankdf.ci_lower).max()
    tukey = MultiComparison(results.melt()["value"], results.melt()["variable"]).tukeyhsd(alpha=alpha)
    tukey.plot_simultaneous()
    print(f"{level}: intervals of {width:.2f}, right {2 * max(tukey.halfwidths):.2f}; the same: {groups}; pairs that differ: {sum(tukey.reject)} of 3")
PY
seen=$(python/bin/python levels.py)
expected='alpha=0.200: intervals of 0.60, right 0.44; the same: b and c; pairs that differ: 2 of 3
alpha=0.050: intervals of 0.60, right 0.60; the same: b and c; pairs that differ: 2 of 3
alpha=0.001: intervals of 0.60, right 0.94; the same: b and c; pairs that differ: 1 of 3'
echo "$seen"
[ "$seen" = "$expected" ]
