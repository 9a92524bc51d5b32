#!/usr/bin/env bash
# llm_json keeps only the first element of a list of objects that has to be repaired, and 1 of a price of 1,000.
#
# Versions: llm_json 1.0.3 (crates.io), a port of json_repair, and json_repair 0.64.6 (PyPI) as a comparison.
# Behaviour: text around JSON is removed, and a list of objects seems to be text around its first object. So of three tool calls with a comma after the last,
# or cut off before the closing bracket, one is left, without an error, and the result is an object instead of a list. A list of numbers, a list in
# an object, and a list that needs no repair are complete. Where json_repair makes a text or a number of what it does not know, the port
# ends the number and goes on with a further key: 1,000 becomes 1 and "000", a date becomes its year, and 0042 becomes 0.
# Seen, json_repair and then llm_json:
#   [{"id": 1}, {"id": 2}, {"id": 3},]: [{"id":1},{"id":2},{"id":3}] and {"id":1}
#   [{"id": 1}, {"id": 2}, {"id": 3}: [{"id":1},{"id":2},{"id":3}] and {"id":1}
#   {"ids": [{"id": 1}, {"id": 2},]}: {"ids":[{"id":1},{"id":2}]} and {"ids":[{"id":1},{"id":2}]}
#   {"price": 1,000}: {"price":"1,000"} and {"000":"","price":1}
#   {"to": 2026-11-30}: {"to":"2026-11-30"} and {"to":2026,"unknown":-30}
#   {"order": 0042}: {"order":42} and {"order":0,"unknown":42}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >answers.txt <<'TEXT'
[{"id": 1}, {"id": 2}, {"id": 3},]
[{"id": 1}, {"id": 2}, {"id": 3}
{"ids": [{"id": 1}, {"id": 2},]}
{"price": 1,000}
{"to": 2026-11-30}
{"order": 0042}
TEXT

mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "answers"
version = "0.1.0"
edition = "2024"

[dependencies]
llm_json = "=1.0.3"
TOML
cat >src/main.rs <<'RUST'
fn main() {
    for answer in std::io::stdin().lines() {
        println!("{}", llm_json::repair_json(&answer.unwrap(), &Default::default()).unwrap());
    }
}
RUST
seen=$(cargo run --quiet <answers.txt)
expected='{"id":1}
{"id":1}
{"ids":[{"id":1},{"id":2}]}
{"000":"","price":1}
{"to":2026,"unknown":-30}
{"order":0,"unknown":42}'
echo "$seen"
[ "$seen" = "$expected" ]

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check json_repair==0.64.6
cat >answers.py <<'PY'
import json
import sys

from json_repair import loads

for answer in sys.stdin:
    print(json.dumps(loads(answer), separators=(",", ":")))
PY
reference=$(python/bin/python answers.py <answers.txt)
expected='[{"id":1},{"id":2},{"id":3}]
[{"id":1},{"id":2},{"id":3}]
{"ids":[{"id":1},{"id":2}]}
{"price":"1,000"}
{"to":"2026-11-30"}
{"order":42}'
echo "$reference"
[ "$reference" = "$expected" ]
