#!/usr/bin/env bash
# In rotalabs-eval, the interval of a pass rate of one half reaches further down than up, and that of the failures does not mirror that of the passes.
#
# Versions: rotalabs-eval 1.2.0 (PyPI), numpy 2.2.6, scipy 1.17.1.
# Behaviour: `bootstrap_ci_bca` corrects the bias of the bootstrap by the part of the resamples that lie below the estimate, and is described as more accurate
# than the percentiles. Resamples that equal the estimate are not below it, and with passes and failures there are many of them: 18 % at 10 of 20. So both
# ends are moved down, as if the estimate were too high. The interval of 19 passes of 20 begins at 0.70, and that of the one failure ends at 0.15, though
# each follows from the other. SciPy, which counts half of the equal resamples as below, has a symmetric interval for one half, and mirrored ones for the
# passes and the failures.
# Seen (20 samples, 10,000 resamples; rotalabs-eval, SciPy):
#   10 passes: 0.25 to 0.65, 0.30 to 0.70; 19 passes: 0.70 to 1.00, 0.75 to 1.00; 1 pass: 0.00 to 0.15, 0.00 to 0.25
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check rotalabs-eval==1.2.0 numpy==2.2.6 scipy==1.17.1

cat >intervals.py <<'PY'
import numpy as np
from rotalabs_eval.statistics import bootstrap_ci_bca
from scipy.stats import bootstrap

for passes in (10, 19, 1):
    scores = np.array([1.0] * passes + [0.0] * (20 - passes))
    _, own, _ = bootstrap_ci_bca(scores, n_iterations=10_000, seed=0)
    other = bootstrap((scores,), np.mean, n_resamples=10_000, method="BCa", rng=0).confidence_interval
    print(f"{passes}:", ", ".join(f"{low:.2f} to {high:.2f}" for low, high in (own, other)), end="; ")
PY
seen=$(python/bin/python intervals.py)
echo "$seen"
[ "$seen" = '10: 0.25 to 0.65, 0.30 to 0.70; 19: 0.70 to 1.00, 0.75 to 1.00; 1: 0.00 to 0.15, 0.00 to 0.25; ' ]
