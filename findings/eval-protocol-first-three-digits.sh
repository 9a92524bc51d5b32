#!/usr/bin/env bash
# Eval Protocol reads 70000 as 700 after the mark of GSM8K, so that a wrong answer is right, and the right one with a comma is wrong.
#
# Versions: eval-protocol 0.3.33 (PyPI), which fixes the version of litellm.
# Behaviour: `math_reward` compares the number in the answer with that in the reference. GSM8K, a data set of school mathematics, ends each of its solutions
# with `####` and the number, and the documentation of `extract_numbers` names this mark. After it, a number is read as one to three digits and groups of a
# comma and three more, or else as digits. The first of these fits the begin of every number, so the second is never tried, and a longer number without commas
# is cut off after three digits. The same numbers without the mark, or in `\boxed{}`, are read as a whole.
# Seen:
#   read: #### 70000 as 700, #### 70,000 as 70000, 70000 as 70000;
#   reference #### 70000: answer #### 70000 1, #### 70099 1, #### 700 1, #### 70,000 0, \boxed{70000} 0; reference #### 700: answer #### 70000 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check eval-protocol==0.3.33

cat >answers.py <<'PY'
from eval_protocol.models import Message
from eval_protocol.rewards.math import extract_numbers, math_reward

for text in ("#### 70000", "#### 70,000", "The answer is 70000."):
    print(f"{text} read as {extract_numbers(text)[0][1]:g}", end="; ")
print()
for reference, answers in [
    ("#### 70000", ["#### 70000", "#### 70099", "#### 700", "#### 70,000", r"\boxed{70000}"]),
    ("#### 700", ["#### 70000"]),
]:
    print(f"reference {reference}", end=": ")
    for answer in answers:
        messages = [Message(role="user", content="How much is left?"), Message(role="assistant", content=answer)]
        print(f"{answer} {math_reward(messages=messages, ground_truth=reference).score:g}", end="; ")
    print()
PY
seen=$(LITELLM_LOCAL_MODEL_COST_MAP=True python/bin/python -W ignore answers.py 2>log || cat log)
expected='#### 70000 read as 700; #### 70,000 read as 70000; The answer is 70000. read as 70000; 
reference #### 70000: #### 70000 1; #### 70099 1; #### 700 1; #### 70,000 0; \boxed{70000} 0; 
reference #### 700: #### 70000 1; '
echo "$seen"
[ "$seen" = "$expected" ]
