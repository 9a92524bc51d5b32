#!/usr/bin/env bash
# The sequential test of evalsig never stops for a candidate that is better at every item, and stops at once when it is not better at one.
#
# Versions: evalsig 0.1.2 (PyPI), numpy 2.4.6, scipy 1.17.1.
# Behaviour: the width of the interval is the standard deviation of the differences so far times a factor. A deviation of 0 counts as no data, so the interval is
# infinite. A candidate that is right at each item where the baseline is wrong is not found to be better in 200 items, nor is one that is wrong at
# all of them found to be worse. The first tie ends the test at once, so the candidate with the worse result is the better one. With a
# bound for the deviation, or with a tie at the beginning, 30 items are enough, the fewest that the test takes.
# Seen (200 items):
#   all won: not stopped, -inf to inf; all lost: not stopped, -inf to inf; a tie at item 100: stopped at 100, 0.9573 to 1.0227;
#   a tie at item 1: stopped at 30, 0.8626 to 1.0707; all won, deviation at most 0.5: stopped at 30, 0.7151 to 1.2849
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check evalsig==0.1.2 numpy==2.4.6 scipy==1.17.1

cat >sequential.py <<'PY'
from evalsig import sequential_gate

for name, differences, bound in [
    ("all won", [1.0] * 200, None),
    ("all lost", [-1.0] * 200, None),
    ("a tie at item 100", [1.0] * 99 + [0.0] + [1.0] * 100, None),
    ("a tie at item 1", [0.0] + [1.0] * 199, None),
    ("all won, at most 0.5", [1.0] * 200, 0.5),
]:
    found = sequential_gate(differences, alternative="two-sided", sigma_bound=bound)
    print(f"{name}: stopped {found.stopped} at {found.n_pairs}, {found.ci[0]:.4f} to {found.ci[1]:.4f}")
PY
seen=$(python/bin/python sequential.py)
expected='all won: stopped False at 200, -inf to inf
all lost: stopped False at 200, -inf to inf
a tie at item 100: stopped True at 100, 0.9573 to 1.0227
a tie at item 1: stopped True at 30, 0.8626 to 1.0707
all won, at most 0.5: stopped True at 30, 0.7151 to 1.2849'
echo "$seen"
[ "$seen" = "$expected" ]
