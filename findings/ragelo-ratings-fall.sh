#!/usr/bin/env bash
# In RAGElo, the ratings of equal agents fall from 1000 to 750 in 500 games and to 25 in 2000, so that an agent that lost all of its few games is first.
#
# Versions: ragelo 0.7.0 (PyPI). No judge is asked: the winner of each game is given.
# Behaviour: An Elo rating takes from the loser what it gives to the winner, so the mean of all agents stays at the initial rating, which is 1000 here. RAGElo cuts off the fraction of both ratings after each
# game, so each player loses half a point per game. The fall depends on the number of games: more questions, or more opponents, make the same agent worse, and ratings of two experiments
# cannot be compared. In one experiment, an agent that played few games is above all that played many. An agent that was added late, with answers to five questions, is first though it
# lost all five. The result says that each agent played ten times as many games as there are, as it adds up ten tournaments over the same games.
# Guess before the run: the mean rating stays 1000, and the agent that always lost is last.
# Seen (two agents that win half of their games against each other; then a third one that loses five games to the first one):
#   50 games: mean 976; 500 games: 751; 2000 games: 25; after 1000 games of two agents: newcomer 883, first 562, second 556, games of the newcomer: 50 lost
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check ragelo==0.7.0

cat >tournament.py <<'PY'
import random

from ragelo import Experiment
from ragelo.agent_rankers.elo_ranker import EloRanker
from ragelo.types import AgentAnswer
from ragelo.types.answer_formats import PairwiseEvaluationAnswer
from ragelo.types.configurations import EloAgentRankerConfig
from ragelo.types.evaluables import PairwiseGame
from ragelo.types.results import PairwiseGameEvaluatorResult


def tournament(games):
    experiment = Experiment("games", save_on_disk=False)
    for number, (winner, loser) in enumerate(games):
        qid = experiment.add_query(f"question {number}", query_id=f"q{number}")
        query = experiment[qid]
        for agent in (winner, loser):
            experiment.add_agent_answer(AgentAnswer(qid=qid, agent=agent, text=f"answer of {agent}"))
        game = PairwiseGame(qid=qid, agent_a_answer=query.answers[winner], agent_b_answer=query.answers[loser])
        query.pairwise_games[game.game_id] = game
        first, second = game.agent_a_answer.agent, game.agent_b_answer.agent
        answer = PairwiseEvaluationAnswer(answer_a_analysis="", answer_b_analysis="", comparison_reasoning="", winner="A" if first == winner else "B")
        result = PairwiseGameEvaluatorResult(qid=qid, evaluator_name="pairwise", agent_a=first, agent_b=second, answer=answer)
        experiment.add_evaluation((query, game), result, should_save=False)
    random.seed(1)  # the ranker shuffles the games
    return EloRanker(EloAgentRankerConfig()).run(experiment)


for number in (50, 500, 2000):
    found = tournament([("first", "second"), ("second", "first")] * (number // 2))
    print(f"{number} games: mean {sum(found.scores.values()) / 2:.0f}, games of each {found.games_played['first']}")
found = tournament([("first", "second"), ("second", "first")] * 500 + [("first", "newcomer")] * 5)
for agent, score in sorted(found.scores.items(), key=lambda row: -row[1]):
    print(f"{agent}: {score:.0f}, wins {found.wins.get(agent, 0)}, losses {found.loses.get(agent, 0)}")
PY
seen=$(python/bin/python -W ignore tournament.py 2>stderr.log)
expected='50 games: mean 976, games of each 500
500 games: mean 751, games of each 5000
2000 games: mean 25, games of each 20000
newcomer: 883, wins 0, losses 50
first: 562, wins 5050, losses 5000
second: 556, wins 5000, losses 5000'
echo "$seen"
[ "$seen" = "$expected" ]
