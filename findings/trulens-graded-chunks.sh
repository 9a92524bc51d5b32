#!/usr/bin/env bash
# In TruLens, a search that returns the worst chunks first has an NDCG of 1, as the grades that its own loader writes are not read.
#
# Versions: trulens-benchmark, trulens-core and trulens-feedback 2.16.0 (PyPI), pandas 3.1.1. The download of the loader is replaced by three files in the format of
# BEIR.
# Behaviour: `TruBEIRDataLoader` gives each expected chunk its grade as `expected_score`, and the guide to evaluations of retrieval names this key, too.
# `GroundTruthAgreement`, to which the guide passes the loaded table, reads `expect_score`, and takes 1 if it is missing. So all chunks are equally good, those with
# the grade 0 too, and NDCG does not depend on their order. Precision, reciprocal rank and hit rate do not look at a grade at all: with either key, a
# search that finds only chunks that were judged irrelevant scores 1. Data sets such as TREC-COVID have judgements of 0. Nothing is reported.
# Seen (chunks with the grades 2, 1, 0 and 0):
#   as loaded: best order NDCG 1.000, worst order NDCG 1.000, irrelevant ones only NDCG 1.000, precision 1.0, reciprocal rank 1.0;
#   key renamed: best order NDCG 1.000, worst order NDCG 0.517, irrelevant ones only NDCG 0.000, precision 1.0, reciprocal rank 1.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check trulens-benchmark==2.16.0 trulens-core==2.16.0 trulens-feedback==2.16.0 pandas==3.1.1

cat >retrieval.py <<'PY'
import copy
import json
import os

from trulens.benchmark.benchmark_frameworks.dataset import beir_loader
from trulens.feedback import GroundTruthAgreement
from trulens.feedback.dummy.provider import DummyProvider

grades = [2, 1, 0, 0]
os.makedirs("data/vaccines/qrels")
with open("data/vaccines/corpus.jsonl", "w") as file:
    for number in range(4):
        print(json.dumps({"_id": f"d{number}", "title": "", "text": f"chunk {number}"}), file=file)
with open("data/vaccines/queries.jsonl", "w") as file:
    print(json.dumps({"_id": "q", "text": "Which vaccine?", "metadata": {}}), file=file)
with open("data/vaccines/qrels/test.tsv", "w") as file:
    print("query-id\tcorpus-id\tscore", *(f"q\td{number}\t{grade}" for number, grade in enumerate(grades)), sep="\n", file=file)
beir_loader.download_and_unzip = lambda url, folder: folder
loaded = beir_loader.TruBEIRDataLoader(data_folder="data", dataset_name="vaccines").load_dataset_to_df().to_dict("records")
renamed = copy.deepcopy(loaded)
for chunk in renamed[0]["expected_chunks"]:
    chunk["expect_score"] = chunk.pop("expected_score")

chunks = [f"chunk {number}" for number in range(4)]
for name, golden in [("as loaded", loaded), ("renamed", renamed)]:
    agreement = GroundTruthAgreement(golden, provider=DummyProvider())
    for order, found in [("best", chunks), ("worst", chunks[::-1])]:
        print(f"{name}: {order} order NDCG {agreement.ndcg_at_k('Which vaccine?', found):.3f}", end="; ")
    found = chunks[2:]
    scores = [measure("Which vaccine?", found) for measure in (agreement.ndcg_at_k, agreement.precision_at_k, agreement.mrr)]
    print(f"{name}: irrelevant ones only NDCG {scores[0]:.3f}, precision {scores[1]}, reciprocal rank {scores[2]}", end="; ")
PY
seen=$(python/bin/python -W ignore retrieval.py 2>errors.log)
expected='as loaded: best order NDCG 1.000; as loaded: worst order NDCG 1.000; '
expected+='as loaded: irrelevant ones only NDCG 1.000, precision 1.0, reciprocal rank 1.0; renamed: best order NDCG 1.000; '
expected+='renamed: worst order NDCG 0.517; renamed: irrelevant ones only NDCG 0.000, precision 1.0, reciprocal rank 1.0; '
seen=${seen#*requirements.$'\n'}
echo "$seen"
[ "$seen" = "$expected" ]
