#!/usr/bin/env bash
# In JSF, data for a schema that extends another one by allOf are never valid, and the arguments of a tool with one of two ids often are not.
#
# Versions: jsf 0.11.2, jsonschema 4.26.0 (PyPI).
# Behaviour: JSF makes random data of a JSON Schema, of any one, its description says, and is a port of a JavaScript library that supports these keywords. For `allOf` it takes one of the schemas at random, as
# for `anyOf` and `oneOf`, so that a schema with required fields in a base, which is how one extends another, gets the fields of the base or its own. `anyOf` beside `properties`, `dependentRequired`,
# `minProperties` and `contains` are not looked at, nor are `minLength` and `maxLength` of a text with a pattern. The list of what is supported in part names other things. Nothing is reported unless one
# calls the method that validates. Tests of a tool with such inputs test how it rejects them: a tool that rejects everything passes.
# Guess before the run: 100 of 100 are valid.
# Seen (100 values for each schema, valid according to jsonschema):
#   all of two objects 0, all of two ranges 57, any of two ids 69, dependent 78, two of three fields 37, pattern with length 0; an object, a list and a range: 100
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check jsf==0.11.2 jsonschema==4.26.0

cat >data.py <<'PY'
import random

from jsf import JSF
from jsonschema import Draft202012Validator

number = {"type": "integer"}
fields = {"type": "object", "properties": {"id": number, "name": {"type": "string"}, "age": number}}
schemas = {
    "an object": fields | {"required": ["id", "name"]},
    "a list": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 2, "maxItems": 3, "uniqueItems": True},
    "a range": number | {"minimum": 5, "maximum": 10},
    "all of two objects": {"allOf": [fields | {"required": ["id"]}, {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}]},
    "all of two ranges": {"allOf": [number | {"minimum": 0, "maximum": 10}, number | {"minimum": 5, "maximum": 20}]},
    "any of two ids": fields | {"anyOf": [{"required": ["id"]}, {"required": ["name"]}]},
    "dependent": fields | {"dependentRequired": {"id": ["name"]}},
    "two of three fields": fields | {"minProperties": 2},
    "pattern with length": {"type": "string", "pattern": "^a+$", "minLength": 3, "maxLength": 4},
}
for name, schema in schemas.items():
    random.seed(7)
    valid = Draft202012Validator(schema)
    generator = JSF(schema)
    print(f"{name} {sum(valid.is_valid(generator.generate()) for _ in range(100))}", end=", ")
PY
seen=$(python/bin/python -W ignore data.py)
expected='an object 100, a list 100, a range 100, all of two objects 0, all of two ranges 57, any of two ids 69, dependent 78, two of three fields 37, '
expected+='pattern with length 0, '
echo "$seen"
[ "$seen" = "$expected" ]
