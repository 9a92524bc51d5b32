#!/usr/bin/env bash
# In evalfloor, the gate against gains that are noise passes more than half of all searches among prompts that are all equally good.
#
# Versions: evalfloor 0.3.0 (PyPI).
# Behaviour: the best of several prompts looks better than the first one, even if all are equal. The package computes how much better, and its gate is to fail a build if the gain is not
# more than that; for the others, it says that the gain is larger than selection alone produces. What it computes is the mean of such gains, and about half of them are
# larger than their mean. So the gate is a coin, whatever the number of prompts and of examples.
# The description lists cases in which the true floor is higher (prompts that are alike, several stages, other scores), and advises a test with further data; here, nothing
# of that is the case: the scores are independent shares of right answers.
# Guess before the run: 5 % or fewer of searches among equal prompts pass.
# Seen (100 searches; right answers with the same probability for each prompt; searches with exit status 0):
#   5 prompts with 50 examples each and 70 %: 59; 10 prompts with 40 examples each and 60 %: 54
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check evalfloor==0.3.0
cat >search.py <<'PY'
import contextlib
import os
import random

from evalfloor.gate import main

random = random.Random(1)
for prompts, examples, right in [(5, 50, 0.7), (10, 40, 0.6)]:
    passed = 0
    for search in range(100):
        scores = [sum(random.random() < right for _ in range(examples)) / examples for _ in range(prompts)]
        with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing):
            passed += main(["--scores", *map(str, scores), "--n", str(examples)]) == 0
    print(f"{prompts} prompts, {examples} examples: {passed} of 100")
PY
seen=$(python/bin/python search.py)
expected='5 prompts, 50 examples: 59 of 100
10 prompts, 40 examples: 54 of 100'
echo "$seen"
[ "$seen" = "$expected" ]
