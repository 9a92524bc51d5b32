#!/usr/bin/env bash
# In deepeval, an agent that makes three equal calls of a tool, as expected, has called one of three expected tools.
#
# Versions: deepeval 4.3.1 (PyPI). No model is asked.
# Behaviour: The tool correctness is documented to compare whether every tool that is expected was called. A call that met an expected one is remembered in a set, and
# calls that equal one in the set are skipped. Calls are equal if their names, inputs and outputs are. So of equal calls only one counts: an agent that does exactly
# what is expected fails, with the same score as one that stops after the first call. If the calls differ in what is not compared, as in their outputs, the score is 1.
# With an order, or with an exact match, the same calls have a score of 1, so asking for more gives more. The stated reason is incomplete use, with an empty list of
# missing tools.
# Guess before the run: 1 for what is expected, and a third for one call of three.
# Seen (three calls of next_page are expected; the calls that were made, score and verdict with the default threshold):
#   as expected: any order 0.33, failed; in order 1.00, passed; exact 1.00, passed; only one: any order 0.33, failed;
#   three with other outputs: any order 1.00, passed; two expected, two made: any order 0.50, passed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check deepeval==4.3.1

cat >calls.py <<'PY'
from deepeval.metrics import ToolCorrectnessMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, ToolCall


class NoModel(DeepEvalBaseLLM):
    """The metric wants a model, and does not ask it if no available tools are given."""

    def load_model(self):
        return self

    def generate(self, *arguments, **options):
        raise AssertionError("asked")

    a_generate = generate

    def get_model_name(self):
        return "none"


def show(label, expected, called, **options):
    metric = ToolCorrectnessMetric(model=NoModel(), async_mode=False, **options)
    metric.measure(LLMTestCase(input="", actual_output="", tools_called=called, expected_tools=expected), _show_indicator=False)
    print(f"{label}: {metric.score:.2f} {'passed' if metric.success else 'failed'}")
    return metric.reason


def pages(count, outputs=False):
    return [ToolCall(name="next_page", output=f"page {number}" if outputs else None) for number in range(count)]


reason = show("as expected, any order", pages(3), pages(3))
show("as expected, in order", pages(3), pages(3), should_consider_ordering=True)
show("as expected, exact", pages(3), pages(3), should_exact_match=True)
show("only one, any order", pages(3), pages(1))
show("other outputs, any order", pages(3), pages(3, outputs=True))
show("two of two, any order", pages(2), pages(2))
print("reason:", "missing tools []" in reason)
PY
seen=$(DEEPEVAL_TELEMETRY_OPT_OUT=1 python/bin/python calls.py)
expected='as expected, any order: 0.33 failed
as expected, in order: 1.00 passed
as expected, exact: 1.00 passed
only one, any order: 0.33 failed
other outputs, any order: 1.00 passed
two of two, any order: 0.50 passed
reason: True'
echo "$seen"
[ "$seen" = "$expected" ]
