#!/usr/bin/env bash
# In ranx, rank-biased precision of graded judgements is 2.5, and bpref is not a number where nothing is judged irrelevant.
#
# Versions: ranx 0.3.21 (PyPI), numba 0.68.1, numpy 2.4.6.
# Behaviour: rank-biased precision is a precision, at most 1. The documentation of ranx says that each document counts 0 or 1, whether it is relevant. It counts
# with its grade, so a run over graded judgements gets more than 1, and a run is better if the grades are written as 1 to 3 and not as 1 to 2. bpref is
# defined by judged irrelevant documents that are ranked before relevant ones. If there are none, as in judgements that only list relevant documents, no
# document is preferred wrongly; ranx divides 0 by 0, and the mean over all queries is not a number because of one such query. With one irrelevant
# document in the judgements, not in the run, bpref is 1.
# Seen (a perfect run of three documents, rbp with p = 0.5; binary judgements, graded ones, graded ones and an irrelevant document):
#   binary: rbp 0.875, bpref nan; graded: rbp 2.500, bpref nan; with one irrelevant: rbp 2.500, bpref 1.000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check ranx==0.3.21 numba==0.68.1 numpy==2.4.6

seen=$(python/bin/python -W ignore - <<'PY'
from ranx import Qrels, Run, evaluate

run = Run({"query": {"a": 0.9, "b": 0.8, "c": 0.7}})
judgements = {
    "binary": {"a": 1, "b": 1, "c": 1},
    "graded": {"a": 3, "b": 3, "c": 2},
    "with one irrelevant": {"a": 3, "b": 3, "c": 2, "d": 0},
}
for name, grades in judgements.items():
    found = evaluate(Qrels({"query": grades}), run, ["rbp.50", "bpref"])
    print(f"{name}: rbp {found['rbp.50']:.3f}, bpref {found['bpref']:.3f}", end="; ")
PY
)
echo "$seen"
[ "$seen" = 'binary: rbp 0.875, bpref nan; graded: rbp 2.500, bpref nan; with one irrelevant: rbp 2.500, bpref 1.000; ' ]
