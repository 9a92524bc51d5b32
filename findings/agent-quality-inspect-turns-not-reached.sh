#!/usr/bin/env bash
# In Agent Quality Inspect, an agent that stops after the first of three turns has reached all subgoals, and a subgoal of all turns is never looked at.
#
# Versions: agent-quality-inspect 2.3.6a1 (PyPI). The judge is a class of the script.
# Behaviour: For a conversation whose messages are given, each subgoal and each expected tool call has the turn in which it is to be reached. The progress is
# documented as the part of all subgoals of the sample that the judge finds complete. But only those are counted whose turn is in the trace of the agent.
# The others are neither shown to the judge nor part of the average, so what an agent that broke off did not do is no loss: progress, success and the
# correctness of its tools are 1. A turn may also be "all", says the description of the format. Such a subgoal has the number of no turn, and is left out.
# Seen (three turns with a subgoal and an expected call each, all complete; turns in the trace, progress, success, tools):
#   3: 1, 1, 1; 2: 1, 1, 1; 1: 1, 1, 1, 5 requests to the judge instead of 15
#   with a subgoal of all turns that the judge would reject: progress 1, which no request is about; the same with turn 2: 0.75
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check agent-quality-inspect==2.3.6a1

cat >turns.py <<'PY'
from agent_inspect.clients.llm_client import LLMClient
from agent_inspect.metrics.scorer import ProgressScore, SuccessScore, ToolCorrectnessMetric
from agent_inspect.models.llm_response import LLMResponse
from agent_inspect.models.metrics.agent_data_sample import Conversation, EvaluationSample, ExpectedToolCall, SubGoal
from agent_inspect.models.metrics.agent_trace import AgentDialogueTrace, AgentResponse, Step, TurnTrace


class Judge(LLMClient):
    def __init__(self):
        self.prompts = []

    async def make_llm_requests(self, prompts):
        self.prompts += prompts
        return [LLMResponse(status=200, completion="GRADE: " + ("I" if "polite" in prompt else "C")) for prompt in prompts]

    async def make_llm_request(self, prompt):
        return (await self.make_llm_requests([prompt]))[0]

    async def make_request_with_payload(self, payload):
        raise NotImplementedError


messages = [("Find a flight.", "search"), ("Book it.", "book"), ("Pay for it.", "pay")]
goals = [SubGoal(details=f"The agent calls {tool}.", turn=turn) for turn, (_, tool) in enumerate(messages)]


def sample(*further):
    return EvaluationSample(
        sub_goals=[*goals, *further],
        expected_tool_calls=[ExpectedToolCall(tool=tool, turn=turn) for turn, (_, tool) in enumerate(messages)],
        conversation=[Conversation(turn_id=turn, message=message) for turn, (message, _) in enumerate(messages)],
    )


def trace(count):
    turns = []
    for turn, (message, tool) in enumerate(messages[:count]):
        steps = [Step(id=f"step {turn}", parent_ids=[], tool=tool, tool_input_args=[], tool_output="done")]
        turns.append(TurnTrace(id=f"turn {turn}", agent_input=message, agent_response=AgentResponse(response="Done."), steps=steps))
    return AgentDialogueTrace(turns=turns)


for count in (3, 2, 1):
    judge = Judge()
    scores = [metric(judge).evaluate(trace(count), sample()).score for metric in (ProgressScore, SuccessScore, ToolCorrectnessMetric)]
    print(f"{count}:", *(f"{score:g}" for score in scores), f"with {len(judge.prompts) // 2} requests")
for turn in ("all", 2):
    judge = Judge()
    score = ProgressScore(judge).evaluate(trace(3), sample(SubGoal(details="The agent is polite.", turn=turn))).score
    print(f"turn {turn}: {score:g}, {sum('polite' in prompt for prompt in judge.prompts)} requests")
PY
seen=$(python/bin/python turns.py)
expected='3: 1 1 1 with 15 requests
2: 1 1 1 with 10 requests
1: 1 1 1 with 5 requests
turn all: 1, 0 requests
turn 2: 0.75, 5 requests'
echo "$seen"
[ "$seen" = "$expected" ]
