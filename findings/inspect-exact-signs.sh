#!/usr/bin/env bash
# In inspect_ai, -5 is exactly 5, and C# exactly C.
#
# Versions: inspect_ai 0.3.285 (PyPI).
# Behaviour: `exact` is documented to normalise the text of the answer and of the target, and to compare them exactly. What is normalised is not said. Each word loses
# the punctuation at its ends, and that is also the sign of a number, the sharp of C#, the comparison of x with 5, and the mark that negates an expression. So
# answers with the opposite meaning are correct. `f1`, which normalises in the same way, gives them 1. Signs of numbers count for `match(numeric=True)` only.
# Guess before the run: incorrect, as with other scorers called exact.
# Seen (target, answer: exact, f1):
#   5, -5: C, 1.0; C, C#: C, 1.0; "x < 5", "x > 5": C, 1.0; "paid", "!paid": C, 1.0;
#   for comparison: "not paid", "paid": I, 0.67; 5, 6: I, 0; match of 5, -5: I
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check inspect_ai==0.3.285

cat >signs.py <<'PY'
import asyncio

from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import Target, exact, f1, match
from inspect_ai.solver import TaskState


def score(scorer, target, answer):
    output = ModelOutput.from_content("none", answer)
    state = TaskState(model=ModelName("none/none"), sample_id=1, epoch=1, input="", messages=[], output=output)
    return asyncio.run(scorer(state, Target(target))).value


for target, answer in [("5", "-5"), ("C", "C#"), ("x < 5", "x > 5"), ("paid", "!paid"), ("not paid", "paid"), ("5", "6")]:
    print(f"{target}, {answer}:", score(exact(), target, answer), score(f1(), target, answer))
print("match of 5, -5:", score(match(numeric=True), "5", "-5"))
PY
seen=$(python/bin/python signs.py)
expected='5, -5: C 1.0
C, C#: C 1.0
x < 5, x > 5: C 1.0
paid, !paid: C 1.0
not paid, paid: I 0.67
5, 6: I 0.0
match of 5, -5: I'
echo "$seen"
[ "$seen" = "$expected" ]
