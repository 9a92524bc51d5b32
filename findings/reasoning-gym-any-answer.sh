#!/usr/bin/env bash
# In reasoning-gym, every text solves the task of a game that comes to rest or not, and 8 * 3 * 1 * 1 solves every puzzle of making 24.
#
# Versions: reasoning-gym 0.1.25 (PyPI).
# Behaviour: Rewards are documented as verified by an algorithm. The task whether a game of life halts expects "True" or "False", as texts. The answer is compared
# by `bool(answer) == bool(expected)`. Both texts are true in Python, like every text that is not empty, so the wrong answer has the full reward, and a refusal, too.
# The puzzle of 24 gives four numbers, and asks for an expression that uses each of them once. What is checked is that the expression has four numbers within the
# limits of the whole data set, and that its value without the part after the point is 24. Which numbers these are is not looked at, so one expression solves all
# puzzles, and 24.5 is 24. A model that is trained or measured with either task learns, and shows, nothing about it.
# Guess before the run: the answer to another item has less than the full reward, in each data set.
# Seen (50 items each; how many have the full reward for one answer, and for how many it is right):
#   game that halts: "True" 50, right in 24; "False" 50, right in 26; "I do not know." 50, right in 0;
#   puzzle of 24: 8*3*1*1 50, right in 0; 9*5/2+2, which is 24.5: 50, right in 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check reasoning-gym==0.1.25

cat >answers.py <<'PY'
import re

import reasoning_gym


def show(name, answer, is_right):
    items = reasoning_gym.create_dataset(name, size=50, seed=1)
    full = sum(items.score_answer(answer, item) == 1 for item in items)
    print(f"{name}, {answer}: {full} of 50, right in {sum(is_right(item) for item in items)}")


for answer in ["True", "False", "I do not know."]:
    show("game_of_life_halting", answer, lambda item: item["answer"] == answer)
for answer in ["8*3*1*1", "9*5/2+2"]:
    numbers = sorted(int(digit) for digit in re.findall(r"\d", answer))
    show("puzzle24", answer, lambda item: sorted(item["metadata"]["numbers"]) == numbers)
PY
seen=$(python/bin/python answers.py)
expected='game_of_life_halting, True: 50 of 50, right in 24
game_of_life_halting, False: 50 of 50, right in 26
game_of_life_halting, I do not know.: 50 of 50, right in 0
puzzle24, 8*3*1*1: 50 of 50, right in 0
puzzle24, 9*5/2+2: 50 of 50, right in 0'
echo "$seen"
[ "$seen" = "$expected" ]
