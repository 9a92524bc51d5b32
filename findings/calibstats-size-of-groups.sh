#!/usr/bin/env bash
# In calibstats, a smaller group is nearly always significantly worse calibrated than a larger one, though both are calibrated perfectly.
#
# Versions: calibstats 0.1.0, numpy 2.4.6 (PyPI).
# Behaviour: `ece_difference_test` tests whether the calibration errors of two groups differ, to back by evidence that one of them looks worse. The calibration error is a
# sum of absolute differences, so it is above 0 for a perfect judge, and the more so the fewer items there are. The documentation says this about a single number, and
# has a corrected one; the test uses the number that is not corrected, and resamples each group with its own size, which adds the same again. What it finds is
# the difference of the sizes. A judge that gives its true probability in 100 cases of one language and 1000 of another is fair, and is found to be unfair.
# Guess before the run: 2 of 40 studies with p below 0.05, as many as by chance.
# Seen (40 studies each of two groups in which a share of p of the answers with score p is right; studies with p below 0.05, studies with the first group worse):
#   100 and 100 items: 0, 20; 100 and 1000 items: 39, 40; 1000 and 100 items: 40, 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check calibstats==0.1.0 numpy==2.4.6

cat >groups.py <<'PY'
import numpy
from calibstats import ece_difference_test

draws = numpy.random.default_rng(1)


def group(size):
    scores = draws.uniform(0.5, 1, size)
    return scores, (draws.uniform(size=size) < scores).astype(int)


for first, second in [(100, 100), (100, 1000), (1000, 100)]:
    tests = [ece_difference_test(*group(first), *group(second), n_boot=300) for _ in range(40)]
    print(f"{first} and {second}: {sum(test.p_value < 0.05 for test in tests)}, {sum(test.diff > 0 for test in tests)}")
PY
seen=$(python/bin/python groups.py)
expected='100 and 100: 0, 20
100 and 1000: 39, 40
1000 and 100: 40, 0'
echo "$seen"
[ "$seen" = "$expected" ]
