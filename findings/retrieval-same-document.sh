#!/usr/bin/env bash
# In rag-eval-lite and evret, a retriever that returns one of three relevant documents three times is perfect.
#
# Versions: rag-eval-lite 0.1.4, evret 0.0.3 (PyPI).
# Behaviour: Retrievers return chunks, and several chunks come from one document, so a list of the documents that were found often has one of them more than once. Both
# packages look at each place of the list by itself, and count a relevant document again where it occurs again. In rag-eval-lite, the recall of such a list is 1,
# though two of three documents are missing, and the report about failures, which names what was missed elsewhere, is empty. With more copies than documents, the
# recall and the gain are above 1. In evret, the recall is right, while average precision and normalised gain are 1, as they are cut off there. The
# documentation of neither says that the list must not repeat a document.
# Guess before the run: a third of the documents, and less than 1 for the rest.
# Seen (a, b and c are relevant; five places):
#   a b c: all 1; a x y: rag-eval-lite recall 0.33, gain 0.47; evret recall 0.33, average precision 0.33, gain 0.47;
#   a a a: rag-eval-lite recall 1.00, gain 1.00, no failures; evret recall 0.33, average precision 1.00, gain 1.00;
#   a a a a a: rag-eval-lite recall 1.67, gain 1.38; evret recall 0.33, average precision 1.00, gain 1.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check rag-eval-lite==0.1.4 evret==0.0.3

cat >documents.py <<'PY'
from evret.metrics import NDCG, AveragePrecision, Recall
from rag_eval import QueryResult, RAGEvaluator

relevant = {"a", "b", "c"}
for found in ["abc", "axy", "aaa", "aaaaa"]:
    score = RAGEvaluator(k=5).evaluate([QueryResult("question", list(found), relevant)]).per_query[0]
    missed = any(failure.startswith("INCOMPLETE") for failure in score.failures)
    evret = [metric(k=5).score_query(list(found), relevant) for metric in [Recall, AveragePrecision, NDCG]]
    print(f"{found}: {score.recall:.2f} {score.ndcg:.2f} {'missed' if missed else 'complete'};", *(f"{value:.2f}" for value in evret))
PY
seen=$(python/bin/python documents.py)
expected='abc: 1.00 1.00 complete; 1.00 1.00 1.00
axy: 0.33 0.47 missed; 0.33 0.33 0.47
aaa: 1.00 1.00 complete; 0.33 1.00 1.00
aaaaa: 1.67 1.38 complete; 0.33 1.00 1.00'
echo "$seen"
[ "$seen" = "$expected" ]
