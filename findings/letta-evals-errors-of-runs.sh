#!/usr/bin/env bash
# Letta's evaluations print that no sample ended in an error, where half of them did, as soon as there are two runs.
#
# Versions: letta-evals 0.26.0, letta-client 1.12.1, pydantic 2.14.4, rich 15.0.0, python-dotenv 1.2.4, PyYAML 6.0.4, pathspec 1.1.1 (PyPI); the rest of what
# it asks for is for calling models.
# Behaviour: With `num_runs: 2`, which the documentation offers, the summary has the number of samples of one run, but the attempted samples of all runs, as
# the two fields are described. The printed part of errors is the difference of both. So two runs that lost half of their samples are without errors, and two
# good runs have fewer than none. The reward is the average of the samples without an error, so it does not show them either. With one run, the same samples
# are 50 %.
# Seen (ten samples, of which the agent cannot be reached for five):
#   one run: attempted 5, errored 50.0% (5/10), reward 1.00; two runs: attempted 10, errored 0.0% (0/10), reward 1.00;
#   three runs: attempted 15, errored -50.0% (-5/10), reward 1.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-deps letta-evals==0.26.0
python/bin/pip install --quiet --disable-pip-version-check letta-client==1.12.1 pydantic==2.14.4 rich==15.0.0 python-dotenv==1.2.4 PyYAML==6.0.4 \
  pathspec==1.1.1 2>pip.log

cat >runs.py <<'PY'
import io

from letta_evals.metrics import summarize_model, summarize_runs
from letta_evals.models import Error, GradeResult, RewardOutput, SampleResult, Summary, Timing
from letta_evals.visualization.summary import print_basic_overall_metrics
from rich.console import Console

took = Timing(total=2.0, target=1.5)
right = {"grades": {"answer": GradeResult(score=1.0)}, "reward": RewardOutput(score=1.0)}
failed = {"error": Error(category="target", exception_type="APIConnectionError", message="no connection")}
samples = [SampleResult(sample_id=number, trajectory=[], timing=took, **(right if number < 5 else failed)) for number in range(10)]
for name, summary in [
    ("one run", summarize_model(model="model", results=samples, grader_keys=["answer"])),
    ("two runs", summarize_runs(model="model", per_run_results=[samples] * 2, grader_keys=["answer"])),
    ("three runs", summarize_runs(model="model", per_run_results=[samples] * 3, grader_keys=["answer"])),
]:
    printed = io.StringIO()
    print_basic_overall_metrics(Console(file=printed, width=100), Summary(suite="suite", models=[summary]))
    print(f"{name}:", ", ".join(line.strip() for line in printed.getvalue().splitlines()[4:]), f"(errors: {summary.errors.total_errors})")
PY
seen=$(python/bin/python -W ignore runs.py)
expected='one run: Total attempted: 5, Errored: 50.0% (5/10), Reward: 1.00 (errors: 5)
two runs: Total attempted: 10, Errored: 0.0% (0/10), Reward: 1.00 (errors: 10)
three runs: Total attempted: 15, Errored: -50.0% (-5/10), Reward: 1.00 (errors: 15)'
echo "$seen"
[ "$seen" = "$expected" ]
