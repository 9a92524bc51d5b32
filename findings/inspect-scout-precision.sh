#!/usr/bin/env bash
# In Inspect Scout, a scanner that names the wrong kind for most of what it flags has a precision of 1.
#
# Versions: inspect-scout 0.6.1, inspect-ai 0.3.285 (PyPI). The functions are those that compute the validation of a scan.
# Behaviour: A validation set may have texts or numbers as targets, and the documentation has an example of each. Precision is described as how often the scanner
# is correct when it flags something. It is computed from two bits of each case: whether the target is something, and whether the result was valid. A wrong
# result for a target that is something is always a missed case, though something was flagged. So only a case whose target is nothing can lower the
# precision, and the specificity that is half of the accuracy. A scanner that flags everything as one kind is as precise as one that is always
# right, and the same results have another precision if they are validated as kinds or as a bit for one kind.
# Seen (eight transcripts with partial refusals, one with a critical one, one without; the scanner says critical for nine, then that they are critical):
#   kinds: precision 1.00, recall 0.11; critical or not: precision 0.11, recall 1.00;
#   counts 2, 3, 1 and 0, of which the scanner finds 2, 9, 7 and 0: precision 1.00, recall 0.33
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check inspect-scout==0.6.1 inspect-ai==0.3.285

cat >validation.py <<'PY'
import asyncio

import pandas
from inspect_scout import Result, validation_set
from inspect_scout._recorder.validation import ValidationEntry, ValidationResults
from inspect_scout._validation.validate import validate


def measure(name, cases):
    table = pandas.DataFrame({"id": [f"transcript {number}" for number in range(len(cases))], "target": [target for target, _ in cases]})
    validation = validation_set(table)
    entries = []
    for case, (_, value) in zip(validation.cases, cases):
        valid = asyncio.run(validate(validation, Result(value=value), target=case.target))
        entries.append(ValidationEntry(id=case.id, target=case.target, valid=valid))
    found = ValidationResults.from_entries(entries).metrics
    print(f"{name}: precision {found.precision:.2f}, recall {found.recall:.2f}", end="; ")


kinds = [("critical", "critical"), *[("partial", "critical")] * 8, ("none", "none")]
measure("kinds", kinds)
measure("critical or not", [(target == "critical", value == "critical") for target, value in kinds])
measure("counts", [(2, 2), (3, 9), (1, 7), (0, 0)])
PY
seen=$(python/bin/python -W ignore validation.py)
echo "$seen"
[ "$seen" = 'kinds: precision 1.00, recall 0.11; critical or not: precision 0.11, recall 1.00; counts: precision 1.00, recall 0.33; ' ]
