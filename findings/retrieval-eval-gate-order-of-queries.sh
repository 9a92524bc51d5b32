#!/usr/bin/env bash
# In retrieval-eval-gate, a significant regression passes if the queries come in another order, or if one query was added.
#
# Versions: retrieval-eval-gate 0.2.1 (PyPI).
# Behaviour: The policy `regression` is documented to compare the same queries before and after, which makes it find a drop that an absolute threshold does not. The baseline has the id
# of each query, but the two runs are paired by position. If the lines of the queries were sorted or shuffled in between, each query is compared with another one, and the same drop is
# noise. A query that was replaced is compared with the one that replaced it. If a query was added or removed, there is no test: the line of the metric says so, and the gate passes. Of
# another policy, the description says that a gate which passes when it cannot tell has stopped gating.
# Guess before the run: the same verdict for each order; with a further query, the 40 shared ones are compared, or the gate fails.
# Seen (40 queries, of which 8 had their document in second place; now 14, of which 6 are new; mean reciprocal rank from 0.9 to 0.825, the threshold is 0.5):
#   the same order: p 0.031, failed, status 1; reversed: p 0.287, passed, status 0; one query more: no test, passed, status 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check retrieval-eval-gate==0.2.1

python3 - <<'PY'
import json

queries = list(range(10, 50))


def write_run(name, second):
    with open(name, "w") as file:
        for query in [*queries, 50]:
            found = [f"wrong{query}", f"right{query}"] if query in second else [f"right{query}", f"wrong{query}"]
            for rank, document in enumerate(found, start=1):
                print(f"q{query} Q0 {document} {rank} {1 / rank} run", file=file)


write_run("before.trec", range(10, 18))
write_run("after.trec", [*range(10, 18), *range(20, 26)])
for name, order in {"same": queries, "reversed": queries[::-1], "more": [*queries, 50]}.items():
    with open(f"{name}.jsonl", "w") as file:
        for query in order:
            print(json.dumps({"id": f"q{query}", "relevant_doc_ids": [f"right{query}"]}), file=file)
PY
run() {
  python/bin/rag-eval-gate eval "$@" --backend run-file --modes run --quiet >report.txt
}
run same.jsonl --run-file before.trec --json before.json
seen=$(
  for order in same reversed more; do
    status=0
    run "$order.jsonl" --run-file after.trec --gate --gate-policy regression --baseline-json before.json \
      --min-mrr10 0.5 --min-ndcg10 0.5 --min-recall5 0.5 --json after.json || status=$?
    python3 - "$order" "$status" <<'PY'
import json
import sys

[check] = [check for check in json.load(open("after.json"))["gate"]["checks"] if check["metric"] == "mrr@10"]
p = f"p {check['p_value']:.3f}" if "p_value" in check else "no p"
print(f"{sys.argv[1]}: {check['measured']:.3f}, {p}, {'passed' if check['pass'] else 'failed'}, status {sys.argv[2]}")
PY
  done
)
expected='same: 0.825, p 0.031, failed, status 1
reversed: 0.825, p 0.287, passed, status 0
more: 0.829, no p, passed, status 0'
echo "$seen"
[ "$seen" = "$expected" ]
