#!/usr/bin/env bash
# In holdout-evals, an agent that fails two of three attempts at half of the tasks solves all of them, if the ids of the tasks are numbers.
#
# Versions: holdout-evals 0.1.0, numpy 2.4.6 (PyPI).
# Behaviour: The package reads one score per task from JSON Lines, and documents an error for an id that occurs twice. The id is looked for as it was read, and stored as a text, so a
# number is never found again. Several attempts at a task, as many runners write them, are an error if the ids are texts, and are accepted if they are numbers; then the last attempt is
# the score of the task. So an agent that needs three attempts is as good as one that needs one, and one whose last attempts fail has solved none. The number of tasks in the
# report gives no hint, as it is right. The gate, which is to stop improvements that are noise, ends with status 0 and advises to ship.
# Guess before the run: an error, or the mean of the attempts.
# Seen (20 tasks with three attempts each; the baseline solves 10 in all attempts, the candidate these, and the others in the third attempt only, or in the first two only):
#   ids are texts: error; ids are numbers: solved in the third: 50 % to 100 %, real improvement, status 0; in the first two: 50 % to 50 %, no improvement, status 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check holdout-evals==0.1.0 numpy==2.4.6

python3 - <<'PY'
import json

solved = {"baseline": (), "third": (2,), "first two": (0, 1)}
for kind, name_of in {"texts": "task {}".format, "numbers": int}.items():
    for agent, attempts in solved.items():
        with open(f"{agent} {kind}.jsonl", "w") as file:
            for task in range(20):
                for attempt in range(3):
                    print(json.dumps({"id": name_of(task), "passed": task < 10 or attempt in attempts}), file=file)
PY
seen=$(
  for kind in texts numbers; do
    for agent in third "first two"; do
      status=0
      python/bin/holdout check "$agent $kind.jsonl" --baseline "baseline $kind.jsonl" >report.txt 2>error.txt || status=$?
      echo "$kind, $agent: status $status; $(grep -oE 'baseline .*%|VERDICT: [A-Za-z ]+[a-zA-Z]' report.txt | tr -s ' ' | paste -sd ';' -)$(grep -o 'duplicate task id' error.txt || true)"
    done
  done
)
expected='texts, third: status 2; duplicate task id
texts, first two: status 2; duplicate task id
numbers, third: status 0; baseline 50.0% -> candidate 100.0%;VERDICT: REAL IMPROVEMENT
numbers, first two: status 1; baseline 50.0% -> candidate 50.0%;VERDICT: No improvement'
echo "$seen"
[ "$seen" = "$expected" ]
