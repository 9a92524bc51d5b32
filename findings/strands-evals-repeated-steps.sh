#!/usr/bin/env bash
# In strands-agents-evals, a trajectory with a repeated step does not match itself in any order, and an exact match allows further steps.
#
# Versions: strands-agents-evals 1.7.0 (PyPI).
# Behaviour: `any_order_match_scorer` counts different steps, and divides by the number of all expected steps. So a trajectory that calls
# `search` twice scores less than 1 against itself, while the other two scorers give 1. No trajectory can reach 1 there. `exact_match_scorer`
# compares as many steps as the shorter trajectory has: a further `delete` at the end is a perfect match, as in the scorer whose description
# allows additional actions.
# Seen:
#   exact: itself 1.0, with a further step 1.0; in order: itself 1.0, with a further step 1.0; any order: itself 0.667, with a further step 0.667;
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check strands-agents-evals==1.7.0

seen=$(python/bin/python - <<'PY'
from strands_evals.tools.evaluation_tools import any_order_match_scorer, exact_match_scorer, in_order_match_scorer

expected = ["search", "search", "book"]
for name, scorer in [("exact", exact_match_scorer), ("in order", in_order_match_scorer), ("any order", any_order_match_scorer)]:
    itself, longer = scorer(expected, expected), scorer([*expected, "delete"], expected)
    print(f"{name}: itself {itself:.3}, with a further step {longer:.3}", end="; ")
PY
)
expected='exact: itself 1.0, with a further step 1.0; in order: itself 1.0, with a further step 1.0; any order: itself 0.667, with a further step 0.667; '
echo "$seen"
[ "$seen" = "$expected" ]
