#!/usr/bin/env bash
# Inspect scores a sample that ended in an error, without any answer, as correct.
#
# Versions: inspect_ai 0.3.285 (PyPI).
# Behaviour: `inspect score` also scores samples with an `error`. A sample whose dataset had no target has the target "". The scorers `match` and
# `includes` look for the target in the answer, and "" is in every text: also in the empty one of a sample that broke. `exact` and `f1`
# call the same samples wrong. With `[]` for the target, which is as valid, `match` and `includes` find nothing.
# Seen:
#   match C, includes C, exact I; with []: match I, includes I
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check inspect_ai==0.3.285

cat >task.py <<'PY'
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver


@solver
def breaks():
    async def solve(state, generate):
        raise RuntimeError("connection refused")

    return solve


@task
def capitals():
    return Task(dataset=[Sample(id="france", input="What is the capital of France?")], solver=breaks(), fail_on_error=False)
PY
python/bin/inspect eval task.py --model mockllm/model --log-dir logs --log-format json --display none --no-fail-on-error >eval.log 2>&1 || true
mv logs/*.json text.json
python/bin/python -c '
import json
log = json.load(open("text.json"))
assert log["samples"][0]["target"] == "" and log["samples"][0]["error"]["message"]
log["samples"][0]["target"] = []
json.dump(log, open("list.json", "w"))'

seen=''
for run in 'text match' 'text includes' 'text exact' 'list match' 'list includes'; do
    read -r target scorer <<<"$run"
    python/bin/inspect score "$target.json" --scorer "$scorer" --action overwrite --output-file scored.json --overwrite >score.log 2>&1
    seen+="$run $(python/bin/python -c '
import json
[sample] = json.load(open("scored.json"))["samples"]
[score] = sample["scores"].values()
print(score["value"])'); "
done
expected='text match C; text includes C; text exact I; list match I; list includes I; '
echo "$seen"
[ "$seen" = "$expected" ]
