#!/usr/bin/env bash
# In FewHumans, the default estimate is wrong if disagreement decides what people label, and the estimate for that case is negative if chance decides.
#
# Versions: fewhumans 1.0.0 (PyPI). No model is asked: three judges are functions.
# Behaviour: FewHumans has people label a few items, estimates from these and from the labels of judges how many items are right, and promises an estimate without bias and a valid interval. A routing
# policy selects the items, and records the probability with which each was selected. `estimate` without an argument, which the report and the rule for stopping use too, takes the estimator for items that were selected
# by chance, whatever the policy is. With `Disagreement`, items about which the judges disagree are selected more often, so their errors are taken for those of all items: no interval contains
# the true value. The estimator E5 uses the recorded probabilities, and is right there. But `Uniform` records 1/400 for each item of a queue of 100 from 400 items, where it is 100/400. So E5
# counts each error of the judges 100 times as often as it should, and estimates that a negative share of the items is right.
# Guess before the run: both estimates are near the true value with both policies, and nearly all intervals contain it.
# Seen (20 studies with 400 items, about 100 of which are labelled; three judges that call some wrong items right):
#   Uniform: default off by 0.0, 20 of 20 intervals contain the true value, E5 off by -5.4, 6 of 20; Disagreement: default off by -0.2, 0 of 20, E5 off by 0.0, 20 of 20
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check fewhumans==1.0.0

cat >studies.py <<'PY'
import random

import fewhumans as fh
from fewhumans.judges.python_judge import PythonJudge

ITEMS, LABELLED, STUDIES = 400, 100, 20


class InMemory(fh.Session):
    def save(self):  # a session is written to disk after each label, which is slow
        pass


def study(policy, seed):
    draw = random.Random(seed)
    truth, votes = {}, {}
    for number in range(ITEMS):
        key = f"item {number}"
        truth[key] = "correct" if draw.random() < 0.6 else "incorrect"
        seen = 0.6 if draw.random() < 0.4 else 0.97
        votes[key] = [truth[key] if draw.random() < seen else "correct" for _ in range(3)]
    session = InMemory(
        "unused",
        items=[fh.Item(key, key) for key in truth],
        task=fh.Task(label_space=fh.Categorical(["correct", "incorrect"]), estimand=fh.Mean(of=lambda label: label == "correct")),
        panel=[PythonJudge(f"judge {judge}", lambda item, judge=judge: votes[item.item_id][judge]) for judge in range(3)],
        routing=policy(budget=LABELLED, seed=seed),
    )
    session.run_panel()
    for item in session.queue(n=LABELLED):
        session.add_human(item.item_id, truth[item.item_id])
    right = sum(label == "correct" for label in truth.values()) / ITEMS
    return right, [session.estimate(), session.estimate("E5-active")]


for policy in (fh.routing.Uniform, fh.routing.Disagreement):
    studies = [study(policy, seed) for seed in range(STUDIES)]
    for place, name in enumerate(["default", "E5"]):
        off = sum(found[place].value - right for right, found in studies) / STUDIES
        inside = sum(found[place].lo <= right <= found[place].hi for right, found in studies)
        print(f"{policy.__name__}, {name} ({studies[0][1][place].method}): off by {off:.1f} on average, {inside} of {STUDIES} intervals contain the true value")
PY
seen=$(python/bin/python studies.py)
expected='Uniform, default (E2-ppi): off by 0.0 on average, 20 of 20 intervals contain the true value
Uniform, E5 (E5-active): off by -5.4 on average, 6 of 20 intervals contain the true value
Disagreement, default (E2-ppi): off by -0.2 on average, 0 of 20 intervals contain the true value
Disagreement, E5 (E5-active): off by 0.0 on average, 20 of 20 intervals contain the true value'
echo "$seen"
[ "$seen" = "$expected" ]
