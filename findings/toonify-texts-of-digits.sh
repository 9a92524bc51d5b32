#!/usr/bin/env bash
# toonify turns texts of digits into numbers, so ids lose their zeros, and it does not read lists that the reference implementation of TOON writes.
#
# Versions: toonify 1.6.0 (PyPI), @toon-format/toon 4.4.0 (npm).
# Behaviour: TOON writes JSON for prompts with fewer tokens. Its specification quotes a text that looks like a number, true or null. toonify, whose
# README promises the round trip, writes such texts without quotes, except `true` and `null`, and reads them as numbers: `0042` becomes 42,
# version `1.10` becomes 1.1, `1e5` becomes 100000. In lists and tables it also ignores quotes that are there, so `"true"` becomes true and "01234"
# becomes 1234. A list of the reference implementation, `ids[2]: …`, becomes a text with the key `ids[2]`. Tool calls and expected values
# that went through it differ from those that did not, without an error.
# Seen (JSON, then what is left of it):
#   toonify: {"id": "0042", "version": "1.10", "ids": ["007", "1e5"]}: {"id": 42, "version": 1.1, "ids": [7, 100000.0]}
#   toonify: {"rows": [{"zip": "01234", "ok": "true"}]}: {"rows": [{"zip": 1234, "ok": true}]}
#   reference: {"ids": ["007", "1e5"]}: {"ids[2]": "007\",\"1e5"}
#   reference: {"rows": [{"zip": "01234", "ok": "true"}]}: {"rows": [{"zip": 1234, "ok": true}]}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check toonify==1.6.0
npm install --silent --no-audit --no-fund @toon-format/toon@4.4.0 >npm.log 2>&1

cat >reference.mjs <<'JS'
import { decode, encode } from "@toon-format/toon";
import { deepStrictEqual } from "node:assert";

const text = encode(JSON.parse(process.argv[2]));
deepStrictEqual(decode(text), JSON.parse(process.argv[2]));
process.stdout.write(text);
JS
cat >compare.py <<'PY'
import json
import subprocess

import toon

tools = {"id": "0042", "version": "1.10", "ids": ["007", "1e5"]}
table = {"rows": [{"zip": "01234", "ok": "true"}]}
for value in (tools, table):
    print(f"toonify: {json.dumps(value)}: {json.dumps(toon.decode(toon.encode(value)))}")
for value in ({"ids": ["007", "1e5"]}, table):
    text = subprocess.run(["node", "reference.mjs", json.dumps(value)], check=True, capture_output=True, text=True).stdout
    print(f"reference: {json.dumps(value)}: {json.dumps(toon.decode(text))}")
PY
python/bin/python compare.py | tee seen
cat >expected <<'TEXT'
toonify: {"id": "0042", "version": "1.10", "ids": ["007", "1e5"]}: {"id": 42, "version": 1.1, "ids": [7, 100000.0]}
toonify: {"rows": [{"zip": "01234", "ok": "true"}]}: {"rows": [{"zip": 1234, "ok": true}]}
reference: {"ids": ["007", "1e5"]}: {"ids[2]": "007\",\"1e5"}
reference: {"rows": [{"zip": "01234", "ok": "true"}]}: {"rows": [{"zip": 1234, "ok": true}]}
TEXT
diff expected seen
