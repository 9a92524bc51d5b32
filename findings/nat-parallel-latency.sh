#!/usr/bin/env bash
# In the NeMo Agent Toolkit, two calls of a model that overlap have the latency of their overlap, and the call that ends last has none.
#
# Versions: nvidia-nat-eval 1.9.0 with its extra full, langchain-core 1.8.3 (PyPI). The calls of the workflow are reported as those of a model are; no
# model is asked.
# Behaviour: The usage of a run has the 95th percentile of the latency of its calls. Each call has an id, which its begin and its end share. The time is
# taken from the last begin, whichever call that was of, to the next end. So if a second call begins while the first one is under way, the end of the
# first is held against the begin of the second, and the end of the second against nothing. An agent whose calls run side by side looks ten times
# faster than the same calls in a row, and the more the calls overlap, the less is measured.
# Guess before the run: 1.9 seconds for both, as the calls take the same time.
# Seen (a call of 2 seconds and one of 0.4 seconds; latency and duration of the run in seconds):
#   in a row: 1.9 of 2.4; the second begins 1.8 seconds after the first: 0.2 of 2.2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check 'nvidia-nat-eval[full]==1.9.0' langchain-core==1.8.3

cat >latency.py <<'PY'
import asyncio
import json
import pathlib
import uuid

from nat.builder.context import Context
from nat.builder.function_info import FunctionInfo
from nat.cli.register_workflow import register_function
from nat.data_models.config import Config
from nat.data_models.evaluate_runtime import EvaluationRunConfig
from nat.data_models.function import FunctionBaseConfig
from nat.data_models.intermediate_step import IntermediateStepPayload, IntermediateStepType, UsageInfo
from nat.plugins.eval.runtime.evaluate import EvaluationRun
from nat.runtime.loader import PluginTypes, discover_and_register_plugins


class Plan(FunctionBaseConfig, name="plan"):
    parallel: bool


async def call(name, begin, seconds):
    await asyncio.sleep(begin)
    steps, step = Context.get().intermediate_step_manager, str(uuid.uuid4())
    steps.push_intermediate_step(IntermediateStepPayload(UUID=step, event_type=IntermediateStepType.LLM_START, name=name))
    await asyncio.sleep(seconds)
    end = IntermediateStepPayload(UUID=step, event_type=IntermediateStepType.LLM_END, name=name, usage_info=UsageInfo())
    steps.push_intermediate_step(end)


@register_function(config_type=Plan)
async def plan(config, builder):
    async def run(question: str) -> str:
        if config.parallel:
            await asyncio.gather(call("long", 0, 2), call("short", 1.8, 0.4))
        else:
            await call("long", 0, 2)
            await call("short", 0, 0.4)
        return "done"

    yield FunctionInfo.from_fn(run, description="Calls a model twice.")


async def main():
    discover_and_register_plugins(PluginTypes.ALL)
    pathlib.Path("questions.json").write_text(json.dumps([{"id": "1", "question": "Refund?", "answer": "done"}]))
    general = {"output_dir": "output", "dataset": {"_type": "json", "file_path": "questions.json"}}
    for parallel in (False, True):
        config = Config.model_validate({"workflow": {"_type": "plan", "parallel": parallel}, "eval": {"general": general, "evaluators": {}}})
        output = await EvaluationRun(EvaluationRunConfig(config_file=config, dataset=None)).run_and_evaluate()
        (usage,) = output.usage_stats.usage_stats_items.values()
        print("parallel" if parallel else "in a row", f"{usage.llm_latency:.1f} of {usage.runtime:.1f}")


asyncio.run(main())
PY
python/bin/python -W ignore latency.py 2>run.log | tee seen
python3 - <<'PY'
in_a_row, parallel = (float(line.split()[-3]) for line in open("seen"))
assert in_a_row > 1.8, in_a_row
assert parallel < 0.5, parallel
PY
