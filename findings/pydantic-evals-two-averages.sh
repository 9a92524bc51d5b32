#!/usr/bin/env bash
# Pydantic Evals shows two averages of one report: the second when the report is compared with itself.
#
# Versions: pydantic-evals 2.62.0 (PyPI).
# Behaviour: In an experiment with `repeat`, `averages()` and the printed report average the runs of each case, then the cases. With `baseline=`, all runs are
# averaged at once. The two differ as soon as some runs of a case end in an error. So the pass rate of a report changes when a baseline is
# given, and with that baseline the rates of two experiments can be in another order than in their own reports. The documentation of `averages()` names
# the first way only.
# Seen (4 runs of 2 cases, 3 runs of the easy case end in an error, the hard case always fails):
#   alone: Averages 50.0%; compared with itself: Averages 20.0%
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pydantic-evals==2.62.0

seen=$(python/bin/python - <<'PY'
import re
from collections import Counter

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

runs = Counter()


def task(question):
    runs[question] += 1
    if question == "easy" and runs[question] > 1:
        raise RuntimeError("too many requests")
    return "yes" if question == "easy" else "no"


cases = [Case(name=name, inputs=name, expected_output="yes") for name in ("easy", "hard")]
dataset = Dataset(name="questions", cases=cases, evaluators=[EqualsExpected()])
report = dataset.evaluate_sync(task, repeat=4, max_concurrency=1, progress=False)
for name, text in [("alone", report.render(width=100)), ("compared with itself", report.render(width=100, baseline=report))]:
    print(f"{name}:", *re.search(r"(Averages)\D+([\d.]+%)", text).groups(), end="; ")
PY
)
echo "$seen"
[ "$seen" = 'alone: Averages 50.0%; compared with itself: Averages 20.0%; ' ]
