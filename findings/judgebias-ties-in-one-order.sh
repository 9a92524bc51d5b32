#!/usr/bin/env bash
# In judgebias, a judge that decides for the first answer in one order and for a tie in the other has no position bias, and one that errs at random has one.
#
# Versions: judgebias 0.1.1, pandas 2.3.3, numpy 2.4.6 (PyPI).
# Behaviour: `swap_and_judge` asks a judge about each pair in both orders. `position_bias` is documented as the share of pairs whose verdict changes when the order is swapped, where a share of 0 means no
# bias, and a bias is present if the interval of 95 % does not contain 0. A pair with a tie in one of the orders is never a change. So a judge that is in doubt, and decides for the first
# answer or for a tie depending on the order, changes its verdict on all pairs, and has a bias of 0. On the other hand, an error that does not depend on the position changes verdicts too. The
# interval comes from a bootstrap of zeros and ones, so it does not contain 0 as soon as a few pairs changed. A judge that errs in one of ten verdicts, and favours no position, has a bias in all
# of 40 studies; its choices of the first answer, 50 %, are not looked at.
# Guess before the run: the first judge has a position bias, the second one has none.
# Seen (200 pairs): first or tie: changes 200, effect 0, no bias; always first: effect 1, bias; errs at random: bias in 40 of 40 studies, first answer chosen in 50 % of the verdicts
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check judgebias==0.1.1 pandas==2.3.3 numpy==2.4.6

cat >judges.py <<'PY'
import random

from judgebias import position_bias, swap_and_judge

PAIRS = [(f"item {number}", f"{number} good", f"{number} bad") for number in range(200)]


def first_or_tie(first, second):
    return "first" if first.endswith("good") else "tie"


for name, judge in [("first or tie", first_or_tie), ("always first", lambda first, second: "first")]:
    verdicts = swap_and_judge(PAIRS, judge)
    found = position_bias(verdicts["inconsistent"])
    changes = (verdicts["pick_ab"] != verdicts["pick_ba"]).sum()
    print(f"{name}: verdicts that change {changes}, effect {found.effect:g}, bias {found.present}")

draw = random.Random(1)
biased, firsts = 0, 0


def errs_at_random(first, second):
    global firsts
    right = draw.random() < 0.9
    chosen = "first" if first.endswith("good") == right else "second"
    firsts += chosen == "first"
    return chosen


for _ in range(40):
    biased += position_bias(swap_and_judge(PAIRS, errs_at_random)["inconsistent"]).present
print(f"errs at random: bias in {biased} of 40 studies, first answer in {firsts / (40 * 400):.0%} of the verdicts")
PY
seen=$(python/bin/python judges.py)
expected='first or tie: verdicts that change 200, effect 0, bias False
always first: verdicts that change 200, effect 1, bias True
errs at random: bias in 40 of 40 studies, first answer in 50% of the verdicts'
echo "$seen"
[ "$seen" = "$expected" ]
