#!/usr/bin/env bash
# In abeval, questions about one document count as independent if their scores are 0 and 1, whatever cluster is given.
#
# Versions: abeval 0.1.0 (PyPI), which needs nothing else.
# Behaviour: The description says to pass `--cluster-key document` where several questions come from one document: the interval then widens for the correlation
# within a cluster. A file whose scores are all 0 or 1, which is what most evaluations have, gets the Wilson interval before the option is looked at, and
# nothing says that it was ignored. The same answers as scores of 0.1 and 0.9, or with `--bootstrap`, which the help describes as a bootstrap in
# place of Wilson's interval, have the clustered one. It is more than twice as wide, and the only one of them that is right.
# Seen (40 documents with five questions each; the answers to all questions of a document are alike, and right for 24 documents):
#   0 and 1: 0.531 to 0.665 (wilson), the same without the option; with --bootstrap: 0.443 to 0.757 (clustered-t (40 clusters));
#   0.1 and 0.9, rescaled to 0 and 1: 0.443 to 0.757 (clustered-t (40 clusters))
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check abeval==0.1.0

cat >intervals.py <<'PY'
import json
import subprocess
import sys

with open("results.jsonl", "w") as file:
    for document in range(40):
        for question in range(5):
            right = document < 24
            row = {"id": f"{document}-{question}", "document": document, "passed": int(right), "score": 0.9 if right else 0.1}
            print(json.dumps(row), file=file)


def interval(*options):
    done = subprocess.run([sys.executable, "-m", "abeval", "ci", "results.jsonl", "--json", *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


clusters = ["--cluster-key", "document"]
for name, options, low, range_ in [
    ("without", ["--metric", "passed"], 0, 1),
    ("clusters", ["--metric", "passed", *clusters], 0, 1),
    ("bootstrap", ["--metric", "passed", *clusters, "--bootstrap"], 0, 1),
    ("0.1 and 0.9", ["--metric", "score", *clusters], 0.1, 0.8),
]:
    found = interval(*options)
    print(f"{name}: {(found['lo'] - low) / range_:.3f} to {(found['hi'] - low) / range_:.3f} ({found['method']})", end="; ")
PY
seen=$(python/bin/python intervals.py)
expected='without: 0.531 to 0.665 (wilson); clusters: 0.531 to 0.665 (wilson); bootstrap: 0.443 to 0.757 (clustered-t (40 clusters)); '
expected+='0.1 and 0.9: 0.443 to 0.757 (clustered-t (40 clusters)); '
echo "$seen"
[ "$seen" = "$expected" ]
