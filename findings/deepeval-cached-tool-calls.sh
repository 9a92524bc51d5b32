#!/usr/bin/env bash
# In DeepEval, an agent that calls other tools gets the cached score of the agent that called the right ones.
#
# Versions: deepeval 4.3.1 (PyPI). No model is asked.
# Behaviour: The documentation has the cache skip test cases that have been evaluated on the same metrics before. The key of a test case has
# its input, answer, expected answer and contexts, and the hyperparameters. It does not have `tools_called` and `expected_tools`, which are parameters
# of a test case, too, and the only ones that `ToolCorrectnessMetric` looks at. Agents often answer the same after they did something else. So after a change
# of the agent, a wrong tool has the score 1 and the reason of the run before, and a mended agent keeps the 0. It is the same
# if the expectation is changed.
# Guess before the run: 1 for the expected tool, and 0 for another one, whether there is a cache or not.
# Seen (score and success of an agent that calls refund, as expected, then of one that calls delete_account and gives the same answer):
#   no cache: refund 1.0 True, delete_account 0.0 False; cache: refund 1.0 True, delete_account 1.0 True; cache, the other way around: delete_account 0.0 False, refund 0.0 False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check deepeval==4.3.1

cat >agent.py <<'PY'
import sys

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import ToolCorrectnessMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, ToolCall


class NoModel(DeepEvalBaseLLM):
    """The metric creates a model, and does not ask it."""

    def load_model(self):
        return self

    def generate(self, *args, **kwargs):
        raise NotImplementedError

    async def a_generate(self, *args, **kwargs):
        raise NotImplementedError

    def get_model_name(self):
        return "none"


cache, tool = sys.argv[1:]
case = LLMTestCase(
    input="Refund order 5.",
    actual_output="Done.",
    tools_called=[ToolCall(name=tool)],
    expected_tools=[ToolCall(name="refund")],
)
found = evaluate(
    [case],
    [ToolCorrectnessMetric(model=NoModel(), threshold=1)],
    cache_config=CacheConfig(use_cache=cache == "cache", write_cache=cache == "cache"),
    display_config=DisplayConfig(print_results=False, show_indicator=False),
    async_config=AsyncConfig(run_async=False),
)
[result] = found.test_results
with open("seen", "a") as seen:
    print(f"{tool} {result.metrics_data[0].score} {result.success}", end="; ", file=seen)
PY
export DEEPEVAL_TELEMETRY_OPT_OUT=YES
for run in "none refund delete_account" "cache refund delete_account" "cache delete_account refund"; do
  read -r cache first second <<<"$run"
  rm -rf .deepeval
  printf '%s: ' "$cache" >>seen
  python/bin/python agent.py "$cache" "$first" >>agent.log 2>&1
  python/bin/python agent.py "$cache" "$second" >>agent.log 2>&1
done
seen=$(cat seen)
expected='none: refund 1.0 True; delete_account 0.0 False; cache: refund 1.0 True; delete_account 1.0 True; cache: delete_account 0.0 False; refund 0.0 False; '
echo "$seen"
[ "$seen" = "${expected% }" ] || [ "$seen" = "$expected" ]
