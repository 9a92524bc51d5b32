#!/usr/bin/env bash
# The scorer JSONDiff of autoevals gives 1 in Python and 0 in JavaScript for the same two values.
#
# Versions: autoevals 0.4.1 (PyPI), autoevals 0.0.132 (npm).
# Behaviour: numbers are compared with numbers. A Python bool is an int, so true and 1 are equal there; in JavaScript they are not. In both, a key
# that is missing and a key with null are equal: an answer without the field that the expected one has as null scores 1. Two elements in the
# other order score 2/3.
# Seen:
#   true and 1: Python 1.0, JavaScript 0; false and 0: the same; missing and null: 1 in both; [1, 2] and [2, 1]: 0.667 in both
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund autoevals@0.0.132 >npm.log 2>&1
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check autoevals==0.4.1

cat >values.json <<'JSON'
[[{ "a": true }, { "a": 1 }], [{ "a": 0 }, { "a": false }], [{ "a": 1 }, { "a": 1, "b": null }], [[1, 2], [2, 1]]]
JSON
in_python=$(python/bin/python -c '
import json
from autoevals.json import JSONDiff
print(*[f"{JSONDiff().eval(output, expected).score:.3f}" for output, expected in json.load(open("values.json"))])')
cat >score.mjs <<'JS'
import { readFileSync } from "fs";
import { JSONDiff } from "autoevals";

const scores = [];
for (const [output, expected] of JSON.parse(readFileSync("values.json"))) {
  scores.push((await JSONDiff({ output, expected })).score.toFixed(3));
}
console.log(scores.join(" "));
JS
in_javascript=$(node score.mjs)
echo "Python $in_python; JavaScript $in_javascript"
[ "$in_python" = '1.000 1.000 1.000 0.667' ]
[ "$in_javascript" = '0.000 0.000 1.000 0.667' ]
