#!/usr/bin/env bash
# In diff-binom-confint, the report of risks ignores the method for differences, and its column of training and validation has the positive training cases instead of the validation cases.
#
# Versions: diff-binom-confint 0.1.0, numpy 2.4.6, pandas 3.1.1 (PyPI).
# Behaviour: `make_risk_report` compares groups by the share of a result, such as failures of two models. `method` is documented as the method of the intervals, and `diff_method` as that of the
# intervals of differences. The latter is never used: the differences have the intervals of `method`, and a method that exists for shares only, as that of Clopper and Pearson, is an
# error whatever is asked for the differences. Given two tables, for training and validation, the report has a column "t/v". In its total are the numbers of rows of both tables, in each group
# the number of training rows and how many of them are positive. So of 60 old answers with 12 failures and 30 of the second table, "60/12" is reported. The dictionary has the same.
# Guess before the run: the interval of the difference is that of Wald, and the column has 60/30.
# Seen (failures of an old and a new model; the difference for Wald asked for, then the one that its function gives; then the column):
#   -23.1 % to 4.0 %, which is that of Wilson; -23.1 % to 3.1 %; old 60/12, new 50/5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check diff-binom-confint==0.1.0 numpy==2.4.6 pandas==3.1.1

cat >report.py <<'PY'
import pandas as pd
from diff_binom_confint import compute_difference_confidence_interval, make_risk_report


def results(**models):
    rows = []
    for model, (number, failures) in models.items():
        rows += [{"model": model, "result": "failed" if row < failures else "passed"} for row in range(number)]
    return pd.DataFrame(rows)


def report(data, **options):
    return make_risk_report(data, "result", positive_class="failed", return_type="dict", **options)["model"]


training, validation = results(old=(60, 12), new=(50, 5)), results(old=(30, 6), new=(20, 2))
for method in ("wilson", "wald"):
    low, high = report(training, diff_method=method)["new"]["failed result Risk Difference"]["confidence_interval"]
    right = compute_difference_confidence_interval(5, 50, 12, 60, method=method)
    print(f"{method}: report {low:.1%} to {high:.1%}, function {right.lower_bound:.1%} to {right.upper_bound:.1%}")
try:
    report(training, method="clopper-pearson", diff_method="wilson")
except ValueError as error:
    print("Clopper-Pearson for the shares:", str(error)[:23])
for model, values in report((training, validation)).items():
    print(model, "t/v", values["Affected"]["t/v"])
PY
seen=$(python/bin/python -W ignore report.py)
expected='wilson: report -23.1% to 4.0%, function -23.1% to 4.0%
wald: report -23.1% to 4.0%, function -23.1% to 3.1%
Clopper-Pearson for the shares: method should be one of
old (Ref.) t/v 60/12
new t/v 50/5'
echo "$seen"
[ "$seen" = "$expected" ]
