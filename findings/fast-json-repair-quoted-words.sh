#!/usr/bin/env bash
# In fast-json-repair, a judge that quotes a word gives a reason that ends there, and fields that it did not give.
#
# Versions: fast-json-repair 0.2.3, json_repair 0.64.6 (PyPI).
# Behaviour: fast-json-repair is documented as a drop-in replacement of json_repair, from which it comes. A text with quotation marks that are not escaped is the usual
# fault of JSON that a model writes. json_repair takes the mark as part of the text if no comma or brace follows that begins a field. fast-json-repair ends the text
# there, and makes fields of the words behind it, with a colon, a word or nothing as the value. There is no error, and the fields that were asked for are there, so
# a schema without a ban of further ones is met. A reason that was to explain a score is cut off, and what was quoted is a field with a value of its own.
# Guess before the run: the same as json_repair.
# Seen (what is read):
#   reason: The answer "Paris" is right.: fast-json-repair: reason "The answer ", Paris" "is", right." null; json_repair: the whole reason;
#   reason: It says "score": 0, which is wrong.: fast-json-repair: reason "It says ", score" 0, which "is", wrong." null; json_repair: the whole reason
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check fast-json-repair==0.2.3 json_repair==0.64.6

cat >reasons.py <<'PY'
import json

import fast_json_repair
import json_repair

for reason in ['The answer "Paris" is right.', 'It says "score": 0, which is wrong.']:
    answer = f'{{"reason": "{reason}", "score": 1}}'
    assert json_repair.loads(answer) == {"reason": reason, "score": 1}
    print(json.dumps(fast_json_repair.loads(answer)))
PY
seen=$(python/bin/python reasons.py)
expected='{"reason": "The answer ", "Paris\"": "is", "right.\"": null, "score": 1}
{"reason": "It says ", "score\"": 0, "which": "is", "wrong.\"": null, "score": 1}'
echo "$seen"
[ "$seen" = "$expected" ]
