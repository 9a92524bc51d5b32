#!/usr/bin/env bash
# json_repair removes the beginning of a text that quotes a block of JSON.
#
# Versions: json_repair 0.64.6 (PyPI).
# Behaviour: replies of models often are a Markdown block with JSON, which json_repair unwraps. It also does so within a string: if the string
# begins with a fence for JSON, fence and language are dropped, and the first character after them is the `n` of what was `\n`. The rest,
# and the closing fence, stay. A fence for another language is kept. Plain JSON is spared, because it is first tried with the standard reader;
# one trailing comma, or `skip_json_loads=True`, is enough.
# Seen:
#   valid JSON: unchanged; skip_json_loads: 'n{}\n```'; trailing comma: 'n{}\n```'; fence for Python: unchanged
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check json_repair==0.64.6

seen=$(python/bin/python - <<'PY'
import json

from json_repair import loads

text = "```json\n{}\n```"
document = json.dumps({"a": text})
other = json.dumps({"a": text.replace("json", "python")})
print(loads(document)["a"] == text, end="; ")
print(repr(loads(document, skip_json_loads=True)["a"]), end="; ")
print(repr(loads(document[:-1] + ",}")["a"]), end="; ")
print(loads(other, skip_json_loads=True)["a"] == json.loads(other)["a"])
PY
)
echo "$seen"
# shellcheck disable=SC2016 # backticks of Markdown
[ "$seen" = 'True; '\''n{}\n```'\''; '\''n{}\n```'\''; True' ]
