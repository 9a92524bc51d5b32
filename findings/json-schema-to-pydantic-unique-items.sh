#!/usr/bin/env bash
# A list of different items comes out of json-schema-to-pydantic in another order, which differs from process to process.
#
# Versions: json-schema-to-pydantic 0.5.0, pydantic 2.14.4, jsonschema 4.26.0 (PyPI).
# Behaviour: an array with `uniqueItems` becomes a set. JSON Schema requires that its items differ, which rejects a repeated one, and says nothing about
# their order, which is that of every array. The model accepts the repeated item and drops it, and returns the others in the order of their
# hashes, which Python chooses for each process. So the steps that an agent passed to a tool are run in another order, the same recorded
# answer gives another call each time, and comparing calls fails at random. Limits of the items, such as `minimum`, and `additionalProperties: false` are
# not checked either; those of properties are.
# Seen (an array of a, b, …, h in ten processes; then an item twice, an item below its minimum, an additional property):
#   acdgehfb, acebgdhf, afehgbdc, …
#   {"steps": ["a", "a"]} read as {"steps": ["a"]}, {"steps": [1]} as it is, {"other": 1} as {}; none of them is valid in jsonschema
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check json-schema-to-pydantic==0.5.0 pydantic==2.14.4 jsonschema==4.26.0

cat >read.py <<'PY'
import json
import sys

from json_schema_to_pydantic import create_model
from jsonschema import Draft202012Validator


def read(schema, value):
    """What the model makes of a value, and whether the schema allows it."""
    schema = {"type": "object", "properties": {"steps": schema}, "additionalProperties": False}
    return create_model(schema).model_validate(value).model_dump(mode="json", exclude_unset=True), Draft202012Validator(schema).is_valid(value)


unique = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
if sys.argv[1] == "order":
    print("".join(read(unique, {"steps": list("abcdefgh")})[0]["steps"]))
else:
    limited = {"type": "array", "items": {"type": "integer", "minimum": 3}}
    for schema, value in ((unique, {"steps": ["a", "a"]}), (limited, {"steps": [1]}), (unique, {"other": 1})):
        read_as, valid = read(schema, value)
        print(json.dumps(value), "read as", json.dumps(read_as), "valid:", valid, end="; ")
PY
for _ in {1..10}; do python/bin/python -W ignore read.py order; done | sort -u >orders
cat orders
[ "$(wc -l <orders)" -gt 1 ]
seen=$(python/bin/python -W ignore read.py rest)
echo "$seen"
expected='{"steps": ["a", "a"]} read as {"steps": ["a"]} valid: False; {"steps": [1]} read as {"steps": [1]} valid: False; '
expected+='{"other": 1} read as {} valid: False; '
[ "$seen" = "$expected" ]
