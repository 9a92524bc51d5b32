#!/usr/bin/env bash
# evalci compares the mean of two filters of lm-evaluation-harness, and finds the model better whose answers are wrong more often.
#
# Versions: evalci 0.1.0, lm-eval 0.4.13, datasets 5.2.0 (PyPI). The models are classes of the script.
# Behaviour: A task of the harness may have several filters, as its GSM8K has: one that demands the answer behind a mark, and one that takes the last number.
# The file of samples then has each question once for each filter, with the same `doc_id` and the name of the filter. evalci reads the first metric of
# each line, does not look at the filter, and averages all lines of a question, as it does with repeated samples. So half of the score is the format.
# Its result names neither filter, and says that it is about 20 questions. The documentation says that it reads the files of the harness, and mentions no
# filters. deltagate 0.1.1, which reads the same files, refuses a repeated `doc_id`.
# Guess before the run: an error, or the result of one of the filters.
# Seen (a is right in 12 of 20 questions, with the mark; b in 16, without it):
#   harness: strict 0.6 and 0.0, flexible 0.6 and 0.8; evalci: a is better than b by 0.200, with an interval above 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check evalci==0.1.0 lm-eval==0.4.13 datasets==5.2.0
export HF_HOME=$folder/cache HF_HUB_OFFLINE=1

cat >sums.yaml <<'YAML'
task: sums
dataset_path: json
dataset_kwargs:
  data_files:
    test: sums.jsonl
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
filter_list:
  - name: strict-match
    filter:
      - function: regex
        regex_pattern: "#### (-?[0-9]+)"
      - function: take_first
  - name: flexible-extract
    filter:
      - function: regex
        group_select: -1
        regex_pattern: "(-?[0-9]+)"
      - function: take_first
YAML
cat >harness.py <<'PY'
import json
import pathlib

import lm_eval
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

with open("sums.jsonl", "w") as questions:
    for number in range(20):
        questions.write(json.dumps({"question": f"{number} + {number}?", "answer": str(2 * number)}) + "\n")


class Model(LM):
    def __init__(self, right, form):
        super().__init__()
        self.right, self.form = right, form

    def generate_until(self, requests):
        numbers = [int(request.args[0].split()[0]) for request in requests]
        return [self.form.format(2 * number if number < self.right else 999) for number in numbers]

    def loglikelihood(self, requests):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


tasks = TaskManager(include_path=".", include_defaults=False)
for name, model in (("a", Model(12, "#### {}")), ("b", Model(16, "The sum is {}"))):
    results = lm_eval.simple_evaluate(model=model, tasks=["sums"], task_manager=tasks, log_samples=True, bootstrap_iters=0)
    tracker = EvaluationTracker(output_path=name)
    tracker.save_results_aggregated(results=results, samples=results["samples"])
    tracker.save_results_samples("sums", results["samples"]["sums"])
    (samples,) = pathlib.Path(name).rglob("samples_*.jsonl")
    samples.rename(f"{name}.jsonl")
    scores = results["results"]["sums"]
    print(f"{name}: strict {scores['exact_match,strict-match']}, flexible {scores['exact_match,flexible-extract']}")
PY
python/bin/python -W ignore harness.py 2>harness.log >seen
python/bin/evalci compare a.jsonl b.jsonl | sed -E 's/, 95% CI \[0\.[0-9]+, .*n=/, interval above 0, n=/; s/^[^=]*/a - b /' >>seen
cat seen
diff seen - <<'TEXT'
a: strict 0.6, flexible 0.6
b: strict 0.0, flexible 0.8
a - b =0.200, interval above 0, n=20
TEXT
