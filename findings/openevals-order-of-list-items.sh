#!/usr/bin/env bash
# In openevals, the order of a list decides the score of its items in the modes that do not compare the order.
#
# Versions: openevals 0.2.2 (PyPI).
# Behaviour: The list modes `superset` and `subset` of the JSON match give each item the best partner that is left, one after the other. An item
# with few keys can take the partner that a later item needs. So a list that is compared with its own items in another order scores 0.5. Only
# `same_elements` first looks whether all items have an equal partner. If one item differs, it does not: then the order of the outputs
# decides the score there, too.
# Seen:
#   superset: same order 1.0, reversed 0.5; subset: same order 1.0, reversed 0.5; same_elements: same order 1.0, reversed 1.0;
#   same_elements with one other item: 0.33 0.67 0.83
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check openevals==0.2.2

seen=$(python/bin/python - <<'PY'
from itertools import permutations

from openevals.json import create_json_match_evaluator


def score(mode, outputs, reference):
    evaluator = create_json_match_evaluator(aggregator="average", list_aggregator="average", list_match_mode=mode)
    result = evaluator(outputs=outputs, reference_outputs=reference)
    return (result[0] if isinstance(result, list) else result)["score"]


people = [{"name": "Ann"}, {"name": "Ann", "city": "Oslo"}]
for mode, outputs, reference in [
    ("superset", people[::-1], people),
    ("subset", people, people[::-1]),
    ("same_elements", people[::-1], people),
]:
    print(f"{mode}: same order {score(mode, people, people)}, reversed {score(mode, outputs, reference)}", end="; ")

outputs = [{"x": 1, "y": 1}, {"x": 1, "y": 2}, {"x": 2, "y": 2}]
reference = [{"x": 1, "y": 2}, {"x": 2, "y": 2}, {"x": 1, "y": 3}]
scores = {round(score("same_elements", list(order), reference), 2) for order in permutations(outputs)}
print("same_elements with one other item:", *sorted(scores))
PY
)
expected='superset: same order 1.0, reversed 0.5; subset: same order 1.0, reversed 0.5; same_elements: same order 1.0, reversed 1.0; same_elements with one other item: 0.33 0.67 0.83'
echo "$seen"
[ "$seen" = "$expected" ]
