#!/usr/bin/env bash
# In trectools, two of six measures ignore the option that removes unjudged documents, and the measure of one query depends on the next one.
#
# Versions: trectools 0.0.50, pandas 3.1.1 (PyPI).
# Behaviour: `removeUnjudged` is documented for each measure to remove the documents that nobody has judged before it is calculated, which is how runs are compared that found new
# documents. The reciprocal rank and R-precision remove them from a copy, and then use the whole list. So a run whose first two documents are new is perfect in all measures with that option but
# these two. Rank-biased precision averages the weights of documents with the same score by default. What is compared is the document before, also if it belongs to another query: if the last document of
# one query has the score of the first of the next, as with the few grades of a judge, the two share their weights. The value of both queries changes.
# Guess before the run: the option counts for all; a query has the same value alone and with others.
# Seen (a run with two unjudged documents before the relevant one; then two queries of two documents, scored 5 and 3, and 3 and 1):
#   removed: precision at 1 1, recall 1, NDCG 1, RBP 0.2, reciprocal rank 0, R-precision 0; RBP alone: 0.16 and 0.2; together: 0.18 and 0.18
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check trectools==0.0.50 pandas==3.1.1

cat >run.txt <<'RUN'
1 Q0 new1 1 4 run
1 Q0 new2 2 3 run
1 Q0 relevant 3 2 run
1 Q0 other 4 1 run
RUN
printf '1 0 relevant 1\n1 0 other 0\n' >judged.txt
printf '1 Q0 a 1 5 run\n1 Q0 b 2 3 run\n' >first.txt
printf '2 Q0 c 1 3 run\n2 Q0 d 2 1 run\n' >second.txt
cat first.txt second.txt >both.txt
printf '1 0 b 1\n2 0 c 1\n' >queries.txt
cat >measures.py <<'PY'
from trectools import TrecEval, TrecQrel, TrecRun

evaluated = TrecEval(TrecRun("run.txt"), TrecQrel("judged.txt"))
for name in ("precision", "recall", "ndcg", "reciprocal_rank", "rprec"):
    measure = getattr(evaluated, f"get_{name}")
    print(f"{name}: {measure(depth=1):.2f}, without unjudged documents {measure(depth=1, removeUnjudged=True):.2f}")
print(f"rbp without unjudged documents: {evaluated.get_rbp(removeUnjudged=True)[0]:.2f}")
for run in ("first", "second", "both"):
    precision, _ = TrecEval(TrecRun(f"{run}.txt"), TrecQrel("queries.txt")).get_rbp(per_query=True)
    print(f"rbp of {run}:", *(f"{value:.2f}" for value in precision.iloc[:, 0]))
PY
seen=$(python/bin/python -W ignore measures.py)
expected='precision: 0.00, without unjudged documents 1.00
recall: 0.00, without unjudged documents 1.00
ndcg: 0.00, without unjudged documents 1.00
reciprocal_rank: 0.00, without unjudged documents 0.00
rprec: 0.00, without unjudged documents 0.00
rbp without unjudged documents: 0.20
rbp of first: 0.16
rbp of second: 0.20
rbp of both: 0.18 0.18'
echo "$seen"
[ "$seen" = "$expected" ]
