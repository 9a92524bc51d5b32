#!/usr/bin/env bash
# Fleiss' kappa of two raters who always agree is an error for 4 items, and 1.0 for 20.
#
# Versions: irrCAC 0.4.4 (PyPI), pandas 2.3.3.
# Behaviour: if all raters give every item the same rating, chance agreement is 1 and kappa is 0/0. For 4 items the division raises. For 20,
# rounding keeps the denominator from being exactly 0, and kappa is 1.0 with an interval from 1.0 to 1.0.
# Conger's kappa of the same table is not a number in both cases, and Brennan and Prediger's coefficient 1.0. So whether two judges who
# agree on everything are perfect, unknown or an error depends on the coefficient, and for one of them on the number of items.
# Seen:
#   4 items: bp 1.0, conger nan, fleiss ZeroDivisionError; 20 items: bp 1.0, conger nan, fleiss 1.0 (1.0, 1)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check irrCAC==0.4.4 pandas==2.3.3

seen=$(python/bin/python -W ignore - <<'PY'
import pandas
from irrCAC.raw import CAC

for items in (4, 20):
    ratings = CAC(pandas.DataFrame({"first": [1] * items, "second": [1] * items}))
    for name in ("bp", "conger", "fleiss"):
        try:
            found = getattr(ratings, name)()["est"]
            print(items, name, float(found["coefficient_value"]), end="; ")
        except ZeroDivisionError as error:
            print(items, name, type(error).__name__, end="; ")
PY
)
echo "$seen"
[ "$seen" = '4 bp 1.0; 4 conger nan; 4 fleiss ZeroDivisionError; 20 bp 1.0; 20 conger nan; 20 fleiss 1.0; ' ]
