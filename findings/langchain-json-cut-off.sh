#!/usr/bin/env bash
# For LangChain's evaluators, JSON that was cut off is no JSON, equals the whole, and conforms to the schema.
#
# Versions: langchain-classic 1.0.8, langchain-core 1.8.3, jsonschema 4.26.0 (PyPI).
# Behaviour: `JsonValidityEvaluator` parses strictly. `JsonEqualityEvaluator` and `JsonSchemaEvaluator`, whose documentation says that the prediction is
# parsed as JSON, use a parser for streams, which closes what is open and drops what it cannot complete. So an answer that ended at the limit of tokens is
# right if what is left out was not needed, or was the second half of a number. Of several objects, the first one counts. And if the expected value is a list,
# both are sorted, so its order does not matter, while that of a list inside an object does.
# Seen (expected is {"city": "Lima", "price": 100}; valid, equal, conforms):
#   whole: 1, True, True; cut off in 1000: 0, True, True; cut off in the next property: 0, True, True; two objects: 0, True, True;
#   [1, 2] and [2, 1]: equal True; {"ids": [1, 2]} and {"ids": [2, 1]}: equal False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check langchain-classic==1.0.8 langchain-core==1.8.3 jsonschema==4.26.0

cat >evaluate.py <<'PY'
from langchain_classic.evaluation import JsonEqualityEvaluator, JsonSchemaEvaluator, JsonValidityEvaluator

valid, equal, conforms = JsonValidityEvaluator(), JsonEqualityEvaluator(), JsonSchemaEvaluator()
schema = {"type": "object", "properties": {"city": {"type": "string"}, "price": {"type": "integer"}}, "required": ["city", "price"]}
whole = '{"city": "Lima", "price": 100}'
for name, answer in [
    ("whole", whole),
    ("cut off in 1000", '{"city": "Lima", "price": 100'),
    ("cut off in the next property", '{"city": "Lima", "price": 100, "book'),
    ("two objects", whole + '\n{"city": "Cusco", "price": 70}'),
]:
    scores = [
        valid.evaluate_strings(prediction=answer)["score"],
        equal.evaluate_strings(prediction=answer, reference=whole)["score"],
        conforms.evaluate_strings(prediction=answer, reference=schema)["score"],
    ]
    print(f"{name}: valid {scores[0]}, equal {scores[1]}, conforms {scores[2]}")
for answer, expected in [("[1, 2]", "[2, 1]"), ('{"ids": [1, 2]}', '{"ids": [2, 1]}')]:
    print(f"{answer} and {expected}: equal {equal.evaluate_strings(prediction=answer, reference=expected)['score']}")
PY
seen=$(python/bin/python -W ignore evaluate.py)
expected='whole: valid 1, equal True, conforms True
cut off in 1000: valid 0, equal True, conforms True
cut off in the next property: valid 0, equal True, conforms True
two objects: valid 0, equal True, conforms True
[1, 2] and [2, 1]: equal True
{"ids": [1, 2]} and {"ids": [2, 1]}: equal False'
echo "$seen"
[ "$seen" = "$expected" ]
