#!/usr/bin/env bash
# In regressgate, 5 days and 5 EUR are a price of $5, and a cable of 5 m has a length of 5,000,000.
#
# Versions: regressgate 0.1.0 (PyPI).
# Behaviour: The check of numbers has a unit, "$" or "%" or none; the first example of the description is a price with the unit "$". The unit of a number in the answer is found, but for "$"
# it is not compared: a percentage is told from other numbers, and that is all. So a wrong price passes as soon as another number of the answer happens to be the right one: a number
# of days, or an amount in another currency. An m after a number always is a million, also where it is a metre, and a t a trillion. So the right length of a cable is not found, and
# a wrong one of 5,000,000 is; the description has such letters for amounts only.
# Guess before the run: only $5 is a price of $5; 5 m is 5 of something.
# Seen (expected $5): "is $5": passed; "is $7, and takes 5 days": passed; "is 5 EUR": passed; "is 5%": failed
#   (expected a length of 5, then of 5000000): "is 5 m long": failed, passed; "is 5 km long": passed, failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check regressgate==0.1.0 pydantic==2.14.4

cat >prices.py <<'PY'
from regressgate.case_schema import Case
from regressgate.runner import run_suite
from regressgate.target_result import TargetResult

price = {"type": "number", "value": 5, "unit": "$", "abs_tol": 0.001}
answers = {
    "Shipping is $5.": [price],
    "Shipping is $7, and takes 5 days.": [price],
    "Shipping is 5 EUR.": [price],
    "Shipping is 5%.": [price],
    "The cable is 5 m long.": [{"type": "number", "value": value, "abs_tol": 0.001} for value in (5, 5_000_000)],
    "The cable is 5 km long.": [{"type": "number", "value": value, "abs_tol": 0.001} for value in (5, 5_000_000)],
}
for answer, checks in answers.items():
    found = []
    for check in checks:
        case = Case.model_validate({"id": "a", "input": "How much?", "checks": [check]})
        report = run_suite([case], lambda question: TargetResult(output=answer))
        found.append(f"{'passed' if report.pass_rate == 1 else 'failed'} for {check.get('unit', '')}{check['value']}")
    print(f"{answer} {', '.join(found)}")
PY
seen=$(python/bin/python prices.py)
# shellcheck disable=SC2016
expected='Shipping is $5. passed for $5
Shipping is $7, and takes 5 days. passed for $5
Shipping is 5 EUR. passed for $5
Shipping is 5%. failed for $5
The cable is 5 m long. failed for 5, passed for 5000000
The cable is 5 km long. passed for 5, failed for 5000000'
echo "$seen"
[ "$seen" = "$expected" ]
