#!/usr/bin/env bash
# The interval of results in groups depends on the order of the rows: the same 500 results, sorted in another way, make it five times as wide.
#
# Versions: confidence-intervals 0.0.3 (PyPI), numpy 2.4.6, scikit-learn 1.9.1.
# Behaviour: With `conditions`, `evaluate_with_conf_int` draws groups, for example the tasks of one user, and then rows in each group. The documentation says
# that the rows of a drawn group are sampled with replacement. But each group is sampled with the same seed, so in groups of one size the same
# positions are drawn everywhere. If the rows of the groups are in the same order, as a table is that is sorted by group and task, the groups are not
# drawn independently, and the interval grows; more groups do not narrow it. In another order of the same rows, it is about what independent
# draws give.
# Seen (10 tasks in each group, of which the first five succeed; accuracy 0.5):
#   sorted, 50 groups: 0.200 to 0.800; sorted, 500 groups: 0.200 to 0.800; shuffled, 50 groups: 0.436 to 0.562
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check confidence-intervals==0.0.3 numpy==2.4.6 scikit-learn==1.9.1

seen=$(python/bin/python -W ignore - <<'PY'
import numpy
from confidence_intervals import evaluate_with_conf_int


def interval(name, groups, order=slice(None)):
    passed = numpy.tile([1] * 5 + [0] * 5, groups)[order]
    group = numpy.repeat(numpy.arange(groups), 10)[order]
    low, high = evaluate_with_conf_int(passed, numpy.mean, conditions=group)[1]
    print(f"{name}, {groups} groups: {low:.3f} to {high:.3f}", end="; ")


interval("sorted", 50)
interval("sorted", 500)
interval("shuffled", 50, numpy.random.default_rng(1).permutation(500))
PY
)
echo "$seen"
[ "$seen" = 'sorted, 50 groups: 0.200 to 0.800; sorted, 500 groups: 0.200 to 0.800; shuffled, 50 groups: 0.436 to 0.562; ' ]
