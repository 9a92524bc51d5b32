#!/usr/bin/env bash
# In ai-evaluation of Future AGI, null is as near to an expected object as that object with one wrong number, and nearer than it with a field less.
#
# Versions: ai-evaluation 1.1.0 (PyPI).
# Behaviour: `TreeEditDistance` counts what has to be inserted, deleted and renamed, and divides it by the number of nodes of the larger tree. A value of
# another type is one renaming, whatever is below it. So an answer that is no object at all costs half of what one missing field costs, and the larger
# the expected object is, the smaller the distance becomes. It is documented as 1 for what is completely different. A list with all of its items is one
# insertion, too: an object without any field costs only the number of fields at the top.
# Guess before the run: 1 for null, a text and an empty list, or nearly so, and little for one wrong number.
# Seen (an order with 2 items, of 11 nodes; and one with 200 items, of 605):
#   wrong total: 0.045; no total: 0.091; null, "lost" and []: 0.045; {}: 0.364
#   200 items: null 0.001, one item less 0.002, {} 0.007
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check ai-evaluation==1.1.0

cat >distance.py <<'PY'
import json

from fi.evals.metrics.structured.hierarchy_score import TreeEditDistance
from fi.evals.metrics.structured.types import JSONInput


def order(items):
    return {"id": 5, "customer": "Kim", "items": [{"sku": f"S{item}", "count": 1} for item in range(items)], "total": 30}


def distance(name, answer, expected):
    result = TreeEditDistance().compute_one(JSONInput(response=json.dumps(answer), expected=expected))
    print(f"{name}: {result['output']:.3f} of {result['expected_nodes']}")


small, large = order(2), order(200)
distance("wrong total", {**small, "total": 31}, small)
distance("no total", {name: value for name, value in small.items() if name != "total"}, small)
for answer in (None, "lost", [], {}):
    distance(json.dumps(answer), answer, small)
for answer in (None, {}, order(199)):
    distance("one item less" if answer else json.dumps(answer), answer, large)
PY
seen=$(python/bin/python -W ignore distance.py)
expected='wrong total: 0.045 of 11
no total: 0.091 of 11
null: 0.045 of 11
"lost": 0.045 of 11
[]: 0.045 of 11
{}: 0.364 of 11
null: 0.001 of 605
{}: 0.007 of 605
one item less: 0.002 of 605'
echo "$seen"
[ "$seen" = "$expected" ]
