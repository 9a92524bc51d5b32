#!/usr/bin/env bash
# In agent-json-reliability, the glob src/**/*.py is src*.py after the safe repair of a comma, and the answer "None of the above" is "null of the above".
#
# Versions: agent-json-reliability 0.1.0 (PyPI).
# Behaviour: JSON that cannot be read is repaired in steps, each of which is a replacement in the whole text, also inside of strings. What begins with /* and ends with */ is a comment;
# the two stars of a glob are one. True, False and None are names of Python, and so are the same words in a sentence. A comma before a bracket is dropped in a text, too. The same arguments
# without the comma at the end are read as they are. The result is a successful repair, not unsafe or ambiguous, and conforms to the schema; only the list of changes tells that a
# comment was removed. The description says that only structural and unambiguous fixes are made, and that no values are invented. A call to search in
# src/**/*.py that has a word before it becomes one to search in src*.py.
# Guess before the run: the strings are as they were, and the comma at the end is dropped.
# Seen (the text, and the value in what is read):
#   with a comma at the end: src*.py, null of the above, true Grit; without it: src/**/*.py, None of the above, True Grit; with a word before it: src*.py; each: SCHEMA_VALID, unsafe: False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check agent-json-reliability==0.1.0
cat >repair.py <<'PY'
from products.agent_json_reliability.reliable import reliable_json

schema = {"type": "object", "properties": {"value": {"type": "string"}, "sure": {"type": "boolean"}}, "required": ["value"]}
for value in ["src/**/*.py", "None of the above", "True Grit"]:
    for text in ['{"value": "%s", "sure": true}', '{"value": "%s", "sure": true,}', 'Gladly: {"value": "%s", "sure": true}']:
        seen = reliable_json(text % value, schema)
        print(f"{text % value}: {seen['json']['value']} {seen['outcome_class']} {seen['unsafe_or_ambiguous']}")
PY
seen=$(python/bin/python repair.py)
expected='{"value": "src/**/*.py", "sure": true}: src/**/*.py SCHEMA_VALID False
{"value": "src/**/*.py", "sure": true,}: src*.py SCHEMA_VALID False
Gladly: {"value": "src/**/*.py", "sure": true}: src*.py SCHEMA_VALID False
{"value": "None of the above", "sure": true}: None of the above SCHEMA_VALID False
{"value": "None of the above", "sure": true,}: null of the above SCHEMA_VALID False
Gladly: {"value": "None of the above", "sure": true}: null of the above SCHEMA_VALID False
{"value": "True Grit", "sure": true}: True Grit SCHEMA_VALID False
{"value": "True Grit", "sure": true,}: true Grit SCHEMA_VALID False
Gladly: {"value": "True Grit", "sure": true}: true Grit SCHEMA_VALID False'
echo "$seen"
[ "$seen" = "$expected" ]
