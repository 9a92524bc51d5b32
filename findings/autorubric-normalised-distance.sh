#!/usr/bin/env bash
# In AutoRubric, a judge that gives 0.81 where people give 0.80 is as far from them as one that gives 0.9 where they give 0.1.
#
# Versions: autorubric 1.6.1 (PyPI).
# Behaviour: `earth_movers_distance` compares the scores of a judge with those of people, and has words for the result: from 0.2 on, differences are
# substantial. By default it is normalised, to be comparable across scales. But it is normalised by the lowest and the highest score that occur, not by the
# scale, so the less the scores vary, the larger is the same difference. If the judge gives one score and the people another, the distance is 1, and so is
# the bias, whichever scores these are. One score of 0 and one of 1 more in both lists make it very similar. The example in the documentation has a
# distance of 0.1 for scores of 0.6 to 0.9 that differ by 0.1, and is 0.33.
# Seen (ten scores each):
#   0.81 and 0.80: 1.00, substantial differences; 0.9 and 0.1: 1.00, substantial differences; 0.81 and 0.80, and 0 and 1 in both: 0.01, very similar
#   0.7, 0.8, 0.9 and 0.6, 0.7, 0.8: 0.33, substantial differences
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check autorubric==1.6.1

cat >distance.py <<'PY'
from autorubric.metrics import earth_movers_distance

for name, judge, people in [
    ("0.81 and 0.80", [0.81] * 10, [0.80] * 10),
    ("0.9 and 0.1", [0.9] * 10, [0.1] * 10),
    ("0.81 and 0.80, with 0 and 1", [0.81] * 10 + [0, 1], [0.80] * 10 + [0, 1]),
    ("documented", [0.7, 0.8, 0.9], [0.6, 0.7, 0.8]),
]:
    found = earth_movers_distance(judge, people)
    print(f"{name}: {found.emd:.2f}, bias {found.mean_diff:.2f}, {found.interpretation}")
PY
export HOME="$folder" LITELLM_LOCAL_MODEL_COST_MAP=True
seen=$(python/bin/python distance.py 2>python.log)
expected='0.81 and 0.80: 1.00, bias 1.00, substantial differences
0.9 and 0.1: 1.00, bias 1.00, substantial differences
0.81 and 0.80, with 0 and 1: 0.01, bias 0.01, very similar
documented: 0.33, bias 0.33, substantial differences'
echo "$seen"
[ "$seen" = "$expected" ]
