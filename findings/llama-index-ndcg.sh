#!/usr/bin/env bash
# In LlamaIndex, the normalised gain of the best possible result is 0.36, and that of a result with one document four times 1.57.
#
# Versions: llama-index-core 0.14.25 (PyPI).
# Behaviour: NDCG divides the gain of a result by the gain of the best result of its length, which is why it is between 0 and 1; the documentation
# of `NDCG` says that its position is the number of results. But the best result is as long as the list of expected documents. With 10 of them, a
# retriever with `top_k` 2 that finds two of them has 0.36, and cannot get more. And a document that is found again, as when documents are found by their
# parts, counts again: of two expected documents, one of them four times is 1.57, more than both. `AveragePrecision` of the same result is 2.0.
# Seen:
#   2 of 10, top 2: ndcg 0.3590; both of 2: ndcg 1.0; one of 2, four times: ndcg 1.5706, ap 2.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check llama-index-core==0.14.25

seen=$(python/bin/python -W ignore - <<'PY'
from llama_index.core.evaluation.retrieval.metrics import NDCG, AveragePrecision

for name, expected, retrieved in [
    ("2 of 10, top 2", list("abcdefghij"), ["a", "b"]),
    ("both of 2", ["a", "b"], ["a", "b"]),
    ("one of 2, four times", ["a", "b"], ["a", "a", "a", "a"]),
]:
    ndcg, precision = (metric().compute(expected_ids=expected, retrieved_ids=retrieved).score for metric in (NDCG, AveragePrecision))
    print(f"{name}: ndcg {ndcg:.4f}, ap {precision}", end="; ")
PY
)
echo "$seen"
[ "$seen" = '2 of 10, top 2: ndcg 0.3590, ap 0.2; both of 2: ndcg 1.0000, ap 1.0; one of 2, four times: ndcg 1.5706, ap 2.0; ' ]
