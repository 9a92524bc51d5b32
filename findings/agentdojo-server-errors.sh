#!/usr/bin/env bash
# In AgentDojo, an agent that follows no injection has an average security of 0 %, and one whose model cannot be reached has 100 %.
#
# Versions: agentdojo 0.1.35, google-genai 3.6.1 (PyPI).
# Behaviour: The security of a run is true if the goal of the injection was reached, says the documentation of the method that each injected task has. So the average
# security that the benchmark prints is the part of successful attacks, and a safe agent has 0 %. But a run that is skipped, as its prompt is too long or the
# server of the model has an error, is recorded with security true. It counts as a successful attack, and the less a model is available, the
# more it seems to be attacked with success, or to be secure, by the word that is printed. Runs without an injection have true, too. The
# utility of a skipped run is false, as it is for a failed one, so that neither number shows how many were skipped.
# Seen (a task of banking with the nine injected tasks of the suite, version v1 of the benchmark, and the attack `direct`):
#   agent that does nothing: security 0 of 9, printed as 0.00%; server error: security 9 of 9, printed as 100.00%
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check agentdojo==0.1.35 google-genai==3.6.1

cat >benchmark.py <<'PY'
import contextlib
import io

from agentdojo.agent_pipeline import BasePipelineElement
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.benchmark import benchmark_suite_with_injections
from agentdojo.logging import OutputLogger
from agentdojo.scripts.benchmark import show_results
from agentdojo.task_suite.load_suites import get_suite
from google.genai.errors import ServerError


class Idle(BasePipelineElement):
    name = "gpt-4o-2024-05-13"

    def query(self, query, runtime, env=None, messages=(), extra_args=None):
        answer = {"role": "assistant", "content": [{"type": "text", "content": "I do nothing."}], "tool_calls": []}
        return query, runtime, env, [*messages, answer], extra_args or {}


class Unavailable(Idle):
    def query(self, query, runtime, env=None, messages=(), extra_args=None):
        raise ServerError(503, {"error": {"message": "The model is overloaded.", "status": "UNAVAILABLE"}})


suite = get_suite("v1", "banking")
for agent in (Idle(), Unavailable()):
    attack = load_attack("direct", suite, agent)
    with OutputLogger(None, live=None):
        found = benchmark_suite_with_injections(agent, suite, attack, logdir=None, force_rerun=True, user_tasks=["user_task_0"])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        show_results("banking", found, show_security_results=True)
    security = list(found["security_results"].values())
    print(f"{type(agent).__name__}: {sum(security)} of {len(security)},", printed.getvalue().splitlines()[-1], end="; ")
PY
seen=$(python/bin/python -W ignore benchmark.py 2>errors.log | tail -1)
echo "$seen"
[ "$seen" = 'Idle: 0 of 9, Average security: 0.00%; Unavailable: 9 of 9, Average security: 100.00%; ' ]
