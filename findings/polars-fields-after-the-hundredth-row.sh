#!/usr/bin/env bash
# In Polars, a score of 0.5 in row 101 is 0, and the errors of a run whose first error comes after 100 rows are not in the table.
#
# Versions: polars 2.1.0, duckdb 2.0.1, pandas 3.1.1 (PyPI).
# Behaviour: The schema of a table of dicts is inferred from the first 100 rows. What comes later has to fit: a field that they do not have is dropped, and a number
# with a fraction in a column that had whole numbers until then is cut to a whole number. Neither is reported, though `strict`, the default, is documented to
# raise an error if a value does not exactly match the given or inferred type. A text in place of a number is such an error. `read_ndjson` drops
# the fields, too, in nested objects as well, so an argument of a tool call that occurs late is gone; a fraction is an error there. `read_json` is the other way around:
# the same field is an error, and the fraction is cut. DuckDB drops the field after 20,480 rows, which its documentation calls the sample for the detection of
# types. Results of an evaluation are of this kind: nearly all rows are alike, and the few that differ are what one looks for.
# Guess before the run: a column `error` with nulls, and a mean of the scores below 1; or an error.
# Seen (rows with the score 1; then one row with the score 0.5; or one with the score 0 and an error, or with a further argument of a tool):
#   row 100: 0.5 and error kept by all; row 101: 0.5 is 0 in DataFrame, from_dicts and read_json, error dropped by DataFrame, from_dicts and read_ndjson,
#   argument force dropped by read_ndjson; duckdb: error of row 20481 dropped; pandas: all kept
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check polars==2.1.0 duckdb==2.0.1 pandas==3.1.1

cat >rows.py <<'PY'
import io
import json

import duckdb
import pandas
import polars


def run(ordinary, row):
    """All rows are ordinary up to the last one."""
    return [{"id": number, "score": 1, "args": {"city": "Rome"}} for number in range(ordinary)] + [{"id": ordinary, "score": 1, "args": {"city": "Oslo"}} | row]


def lines(rows):
    return io.BytesIO("\n".join(map(json.dumps, rows)).encode())


def text(rows):
    return io.BytesIO(json.dumps(rows).encode())


def seen(read, look):
    try:
        return look(read())
    except (polars.exceptions.ComputeError, TypeError) as error:
        return type(error).__name__


def last(table):
    return table["score"][-1]


def kept(table):
    return "error kept" if "error" in table.columns else "error dropped"


for ordinary in (99, 100):
    half = run(ordinary, {"score": 0.5})
    failed = run(ordinary, {"score": 0, "error": "timeout"})
    force = run(ordinary, {"args": {"city": "Oslo", "force": True}})
    print(f"row {ordinary + 1}:")
    print(" DataFrame", seen(lambda: polars.DataFrame(half), last), seen(lambda: polars.DataFrame(failed), kept))
    print(" from_dicts", seen(lambda: polars.from_dicts(half), last), seen(lambda: polars.from_dicts(failed), kept))
    print(" read_ndjson", seen(lambda: polars.read_ndjson(lines(half)), last), seen(lambda: polars.read_ndjson(lines(failed)), kept))
    print(" read_json", seen(lambda: polars.read_json(text(half)), last), seen(lambda: polars.read_json(text(failed)), kept))
    print(" pandas", pandas.DataFrame(half)["score"].iloc[-1], kept(pandas.DataFrame(failed)))
    print(" args", seen(lambda: polars.read_ndjson(lines(force)), lambda table: table["args"][-1]))
    print(" a text is", seen(lambda: polars.DataFrame(run(ordinary, {"score": "none"})), last))

with open("rows.jsonl", "wb") as file:
    file.write(lines(run(20480, {"error": "timeout"})).getvalue())
print("duckdb, row 20481:", kept(duckdb.sql("SELECT * FROM read_json_auto('rows.jsonl')")))
PY
seen=$(python/bin/python rows.py)
expected='row 100:
 DataFrame 0.5 error kept
 from_dicts 0.5 error kept
 read_ndjson 0.5 error kept
 read_json 0.5 error kept
 pandas 0.5 error kept
 args {'"'city': 'Oslo', 'force': True"'}
 a text is none
row 101:
 DataFrame 0 error dropped
 from_dicts 0 error dropped
 read_ndjson ComputeError error dropped
 read_json 0 ComputeError
 pandas 0.5 error kept
 args {'"'city': 'Oslo'"'}
 a text is ComputeError
duckdb, row 20481: error dropped'
echo "$seen"
[ "$seen" = "$expected" ]
