#!/usr/bin/env bash
# In illate-parity, a candidate that is wrong in one of ten items passes one of three checks with ten items, with an interval that has no width.
#
# Versions: illate-parity 0.1.0, numpy 2.4.6 (PyPI).
# Behaviour: A check passes if the interval of the difference to the current model is above a margin, by default three points less, and is described as a test with 95 %
# confidence. The interval is a bootstrap over the items. If the two models are right in the same items, each resample has a difference of 0, and so have both ends.
# A loss that is not in the sample is not in the interval, so the fewer items there are, the easier it is to pass. Below 1,000 items there is a
# warning that small sets give wide intervals. But where it matters, the interval is the narrowest there is, the verdict is PASS, and the status of the command
# is 0. Three items without an error are compatible with a loss of up to 63 points.
# Guess before the run: inconclusive for three items, and one wrong PASS in forty checks.
# Seen (a current model that is always right; three items that both have right; then 400 checks of a candidate that is right with probability 0.9):
#   3 items: PASS, 0.0 to 0.0, status 0; wrong PASS: 10 items 141 of 400, 20 items 55 of 400, 100 items 1 of 400
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check illate-parity==0.1.0 numpy==2.4.6

cat >checks.py <<'PY'
import random

from illate_parity.parity import check

draws = random.Random(1)


def verdict(count):
    gold = [{"id": str(number), "text": "", "label": "refund"} for number in range(count)]
    wrong = [draws.random() < 0.1 for _ in gold]
    candidate = [{"id": item["id"], "label": "other" if bad else "refund"} for item, bad in zip(gold, wrong)]
    return check(gold, gold, candidate, n_boot=1000, labels=["refund", "other"])["verdict"]


for count in [10, 20, 100]:
    print(f"{count} items: {[verdict(count) for _ in range(400)].count('PASS')} of 400")
PY
for number in 1 2 3; do
    echo "{\"id\": \"$number\", \"text\": \"\", \"label\": \"refund\"}"
done >three.jsonl
status=0
python/bin/illate-parity check --gold three.jsonl --current three.jsonl --candidate three.jsonl --out out >check.log || status=$?
three=$(python/bin/python -c '
import json
result = json.load(open("out/parity.json"))
difference = result["diff"]
print("3 items:", result["verdict"], difference["low"], "to", difference["high"], *result["warnings"])')
seen="$three Status $status.
$(python/bin/python checks.py)"
expected='3 items: PASS 0.0 to 0.0 Only 3 items. Use 1000+ for a 3-point margin; small sets give wide CIs. Status 0.
10 items: 141 of 400
20 items: 55 of 400
100 items: 1 of 400'
echo "$seen"
[ "$seen" = "$expected" ]
