#!/usr/bin/env bash
# In BigQuery Agent Analytics, a grader with a weight of 9 counts as much as one with a weight of 1, and the answer of an agent is compared with itself.
#
# Versions: bigquery-agent-analytics 0.6.1 (PyPI). No cloud is asked: the session comes from a class of the script.
# Behaviour: The pipeline of graders computes a weighted mean of their scores. Each method that adds a grader has `weight`, documented as the weight for weighted strategies. It is stored, and not used: only
# the weights in the strategy itself count, and graders that are not named there have 1. So a wrong answer that is polite has 0.5, and passes, where correctness was given nine tenths. The example of
# the module gives both. The pipeline is called with the final answer of the agent, which is what it is documented to be. The grader for performance gets it as the golden answer, the one
# that is right. So it compares the answer that was recorded with the same answer: whatever an agent says is a perfect match, and the score of a wrong answer is 1.
# Guess before the run: 0.1, which fails; the grader for performance has no golden answer, or fails.
# Seen (graders for correctness, 0 with a weight of 9, and for politeness, 1 with a weight of 1; then an agent that answers wrongly and its own answer):
#   weights of the graders: 0.5, passed; weights of the strategy: 0.1, failed; grader for performance: response_match 1, passed; with the right answer as the golden one: 0.25, failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check bigquery-agent-analytics==0.6.1

cat >graders.py <<'PY'
import asyncio

from bigquery_agent_analytics import PerformanceEvaluator
from bigquery_agent_analytics.aggregate_grader import AggregateGrader, GraderResult, WeightedStrategy
from bigquery_agent_analytics.performance_evaluator import SessionTrace

ANSWER, RIGHT = "It can be returned for two years.", "It may be sent back within 30 days."


class Recorded(PerformanceEvaluator):
    async def get_session_trace(self, session_id, **pins):
        return SessionTrace(session_id=session_id, user_id="user", events=[], tool_calls=[], final_response=ANSWER)


def always(name, score):
    return lambda context: GraderResult(grader_name=name, scores={name: score}, passed=score >= 0.5)


async def main():
    for name, strategy in [
        ("weights of the graders", WeightedStrategy()),
        ("weights of the strategy", WeightedStrategy(weights={"correct": 9, "polite": 1})),
    ]:
        pipeline = AggregateGrader(strategy)
        pipeline.add_custom_grader("correct", always("correct", 0.0), weight=9)
        pipeline.add_custom_grader("polite", always("polite", 1.0), weight=1)
        verdict = await pipeline.evaluate(session_summary={"session_id": "s1"}, final_response=ANSWER)
        print(f"{name}: {verdict.final_score:.2f}, passed {verdict.passed}")
    pipeline = AggregateGrader(WeightedStrategy()).add_performance_grader(Recorded())
    verdict = await pipeline.evaluate(session_summary={"session_id": "s1"}, final_response=ANSWER)
    print("grader for performance:", verdict.grader_results[0].scores, "passed", verdict.passed)
    found = await Recorded().evaluate_session("s1", golden_response=RIGHT)
    print(f"with the right answer: {found.scores['response_match']:.2f}, {found.eval_status.name}")


asyncio.run(main())
PY
seen=$(python/bin/python -W ignore graders.py)
expected="weights of the graders: 0.50, passed True
weights of the strategy: 0.10, passed False
grader for performance: {'response_match': 1.0} passed True
with the right answer: 0.25, FAILED"
echo "$seen"
[ "$seen" = "$expected" ]
