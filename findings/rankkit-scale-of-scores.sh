#!/usr/bin/env bash
# In rankkit, the p-value of a comparison is 0.07 for scores from 0 to 10, and less than 0.05 for the same scores from 0 to 1.
#
# Versions: rankkit 0.1.0, abeval 0.1.0 (PyPI); Python 3.11, 3.12 and 3.13.
# Behaviour: The test counts how often random signs make the differences add up to at least what was observed. If seven of eight queries gain 0.3 and one loses 0.3, 18 of 256 arrangements
# do, of which 16 are exactly as far from zero as the observed one. In binary numbers, 0.9 - 0.6 is not quite 0.7 - 0.4, so these differ in the last digit, and rankkit compares
# them without a tolerance: about half of them are lost. Which ones depends on the scores, their order, and the version of Python, whose sum has been more exact since 3.12. With
# the scores times ten, all sums are exact. rankkit says that its test is that of abeval, of the same author, which has a tolerance. Scores such as the precision of ten documents are tenths.
# Guess before the run: the same p-value for both scales, near 0.070.
# Seen (8 queries; exact, then with the scores times ten, then as they are, with Python 3.11 and 3.12):
#   exact: 0.070; rankkit: times ten 0.067; as they are 0.045 and 0.032; abeval: times ten 0.073; as they are 0.073
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check rankkit==0.1.0 abeval==0.1.0

cat >scales.py <<'PY'
from itertools import product

import abeval
import rankkit

before = [5, 6, 6, 1, 4, 7, 7, 2]
after = [2, 9, 9, 4, 7, 10, 10, 5]


def exact(before, after):
    differences = [new - old for old, new in zip(before, after)]
    sums = [abs(sum(sign * value for sign, value in zip(signs, differences))) for signs in product((1, -1), repeat=len(differences))]
    return sum(value >= abs(sum(differences)) for value in sums) / len(sums)


def of_rankkit(before, after):
    by_query = [{f"q{number}": score for number, score in enumerate(scores)} for scores in (before, after)]
    return rankkit.paired_compare(*by_query).p_permutation


def of_abeval(before, after):
    return abeval.paired_compare(before, after).p_permutation


def read(value):
    return f"{value:.3f}" if abs(value - exact(before, after)) < 0.01 else f"{'below' if value < 0.05 else 'above'} 0.05"


print(f"exact: {exact(before, after):.3f}")
for name, test in {"rankkit": of_rankkit, "abeval": of_abeval}.items():
    print(f"{name}: times ten {read(test(before, after))}, as they are {read(test(*([score / 10 for score in run] for run in (before, after))))}")
PY
seen=$(python/bin/python scales.py)
expected='exact: 0.070
rankkit: times ten 0.067, as they are below 0.05
abeval: times ten 0.073, as they are 0.073'
echo "$seen"
[ "$seen" = "$expected" ]
