#!/usr/bin/env bash
# In deepeval, an agent that makes one call a thousand times, and one that repeats itself word by word, pass the detection of loops.
#
# Versions: deepeval 4.3.1 (PyPI). No model is asked.
# Behaviour: The metric for loops of an agent looks for equal calls of tools, for equal thoughts one after the other, and for calls that contain themselves. Each of the
# three is 1 without a loop, and 0 in the worst case, and the score is their mean with weights of 0.4, 0.35 and 0.25. The default threshold is 0.5. One kind of loop
# leaves 0.6, 0.65 or 0.75, so none of them alone can fail, however long it goes on: that it is "stuck" has to be found twice. The documentation has the weights and
# the threshold, and calls 0 severe looping, but does not say that the metric passes whatever it finds of one kind. An agent that calls a tool again and again writes
# no thoughts of twenty words, so the second kind seldom comes to the first. The reason names the loop, beside a verdict of passed.
# Guess before the run: failed for a thousand equal calls.
# Seen (score, verdict):
#   2 equal calls: 1.00, passed; 3 equal calls: 0.80, passed; 1000 equal calls: 0.60, passed; ten equal thoughts: 0.65, passed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check deepeval==4.3.1

cat >loops.py <<'PY'
from deepeval.dataset import EvaluationDataset, Golden
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
from deepeval.metrics import AgentLoopDetectionMetric
from deepeval.tracing import observe, update_current_trace

THOUGHT = (
    "Customer orders usually arrive within seven days, therefore checking whether parcel number five already left our "
    "central warehouse seems sensible before anything else happens, because refunds require proof that delivery failed."
)


@observe(type="tool")
def status(order):
    return "pending"


@observe(type="llm", model="none")
def think():
    return THOUGHT


@observe(type="agent")
def agent(text, calls, thoughts):
    for _ in range(calls):
        status(order=5)
    for _ in range(thoughts):
        think()
    update_current_trace(input=text, output="It is still pending.")


for calls, thoughts in [(2, 0), (3, 0), (1000, 0), (0, 10)]:
    metric = AgentLoopDetectionMetric()
    options = {"async_config": AsyncConfig(run_async=False), "display_config": DisplayConfig(print_results=False, show_indicator=False)}
    for golden in EvaluationDataset(goldens=[Golden(input="Where is order 5?")]).evals_iterator(metrics=[metric], **options):
        agent(golden.input, calls, thoughts)
    print(f"seen: {calls} calls, {thoughts} thoughts: {metric.score:.2f} {'passed' if metric.success else 'failed'}")
PY
seen=$(DEEPEVAL_TELEMETRY_OPT_OUT=1 python/bin/python loops.py 2>loops.log | sed -n 's/^seen: //p')
expected='2 calls, 0 thoughts: 1.00 passed
3 calls, 0 thoughts: 0.80 passed
1000 calls, 0 thoughts: 0.60 passed
0 calls, 10 thoughts: 0.65 passed'
echo "$seen"
[ "$seen" = "$expected" ]
