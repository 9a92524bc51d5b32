#!/usr/bin/env bash
# In porchbench, an interval of 99.9 % is as wide as one of 80 %, and narrower than one of 95 %; a p-value of 0.05 is 0.07.
#
# Versions: porchbench 0.1.0, scipy 1.17.1 (PyPI).
# Behaviour: `confidence` is documented as a parameter of the intervals, and written into each result. From 30 values on, only the critical values of 95 % are known to the package. Every other level
# has 1.96, which is that of 95 % of a normal distribution. So one that asks for 99 % gets an interval with that label which is narrower than the one of 95 %, and one that asks for 80 % gets one
# that is too wide. The p-values of Wilcoxon's test, and of the t-test from 31 pairs on, come from a logistic curve, whose comment says that it is accurate to about 1 %. That is so for the
# probability below the value, of which a p-value is what is left to 1: 0.05 becomes 0.07 and 0.001 becomes 0.007, so that a difference is significant at 3 % instead of 5 %.
# Guess before the run: the intervals get wider with the level, as those of SciPy, and the p-values are those of a normal distribution.
# Seen (31 values; then p-values of 40 pairs, of which the first model is better by more and more):
#   80 %, 90 %, 99 % and 99.9 %: 0.124 wide; 95 %: 0.129; SciPy: 0.083, 0.108, 0.129, 0.174, 0.231; p-values: 0.093 and 0.0136, SciPy 0.076 and 0.0034
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check porchbench==0.1.0 scipy==1.17.1

cat >levels.py <<'PY'
import random

from porchbench.statistics import auto_ci, wilcoxon_signed_rank
from scipy import stats

draw = random.Random(1)
scores = [draw.gauss(0.6, 0.2) for _ in range(31)]
for level in (0.8, 0.9, 0.95, 0.99, 0.999):
    found = auto_ci(scores, confidence=level)
    low, high = stats.t.interval(level, 30, stats.tmean(scores), stats.sem(scores))
    print(f"{found.confidence:.1%}: {found.ci_upper - found.ci_lower:.3f}, SciPy {high - low:.3f}")
other = [draw.gauss(0.5, 0.1) for _ in range(40)]
noise = [draw.gauss(0, 0.1) for _ in range(40)]
for better in (0.03, 0.05, 0.07):
    model = [score + better + difference for score, difference in zip(other, noise)]
    found = wilcoxon_signed_rank(model, other)
    right = stats.wilcoxon(model, other, method="asymptotic").pvalue
    print(f"better by {better}: p-value {found.p_value:.4f}, significant {found.significant}, SciPy {right:.4f}")
PY
seen=$(python/bin/python levels.py)
expected='80.0%: 0.124, SciPy 0.083
90.0%: 0.124, SciPy 0.108
95.0%: 0.129, SciPy 0.129
99.0%: 0.124, SciPy 0.174
99.9%: 0.124, SciPy 0.231
better by 0.03: p-value 0.5539, significant False, SciPy 0.5724
better by 0.05: p-value 0.0934, significant False, SciPy 0.0760
better by 0.07: p-value 0.0136, significant True, SciPy 0.0034'
echo "$seen"
[ "$seen" = "$expected" ]
