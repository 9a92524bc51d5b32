#!/usr/bin/env bash
# In promptmachine-eval, the answer that a judge criticises wins if the judge puts the winner into brackets, as the prompt does; in judgeswap, "Answer B" is a vote for A.
#
# Versions: promptmachine-eval 0.1.0, judgeswap 0.1.0 (PyPI). The models and the judge are functions.
# Behaviour: promptmachine-eval asks the judge for a line "Winner: [A/B/draw]". It looks for "winner: a", "winner: b" and "winner: draw", so brackets and stars are not understood, and "Winner: a draw"
# is A. Then the answer wins that is named more often, counted as "response a" and "a is" (which "The data is" has, too), which is mostly the one whose mistakes are listed. A judge
# that could not be reached has an empty text, which is a draw, with points for both in the ratings. judgeswap takes the first letter of the reply: so "Answer B" is A, "Both are
# right" is B, and "**B**" and "Response B" are ties. As it asks twice, in both orders, a judge that writes "Answer B" ends in a tie each time, as if it preferred a place.
# The descriptions of both say that the bias for a place is taken care of; none says what happens to a reply that is not understood.
# Guess before the run: the better answer wins, and other replies are an error.
# Seen: promptmachine-eval (B is the better one): "Winner: B": B; "Winner: [B]" and "Winner: **B**", with two mistakes of A in the reasoning: A; "Winner: a draw": A; an error: a draw, the ratings change;
#   judgeswap (the better answer, twice): "A" and "B": win; "Answer A" and "Answer B", "Response A" and "Response B", "**A**" and "**B**": tie
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check promptmachine-eval==0.1.0 judgeswap==0.1.0
cat >prefer.py <<'PY'
import asyncio
import warnings

from judgeswap import Rubric, RubricJudge
from promptmachine_eval import BattleRunner
from promptmachine_eval.runner import TestResult

warnings.simplefilter("ignore")
REASON = "Reasoning: Response A has the wrong date. Response A leaves out the price. Response B has both."


class Models:
    """Answers of two models, and the reply of a judge."""

    def __init__(self, reply, error=None):
        self.reply, self.error = reply, error

    async def test(self, models, **_):
        return [TestResult(model, f"answer of {model}", 1, 1, 2, 0.0, 1) for model in models]

    async def test_one(self, model, **_):
        return TestResult(model, self.reply, 1, 1, 2, 0.0, 1, error=self.error)


def battle(name, models):
    runner = BattleRunner()
    runner.tester = models
    result = asyncio.run(
        runner.battle("When, and for how much?", "A", "B", judge_model="judge", randomize_order=False, rating_a=1200.0, rating_b=1000.0)
    )
    print(f"{name}: {result.winner} {result.elo_update.rating_change_a:+d}")


for line in ["Winner: B", "Winner: [B]", "Winner: **B**", "Winner: a draw"]:
    battle(line, Models(f"{line}\n{REASON}"))
battle("an error", Models("", "the judge is overloaded"))


class Client:
    def __init__(self, form):
        self.form = form

    def complete(self, prompt):
        return self.form.format("A" if prompt.index("lamp, 7 EUR") < prompt.index("lamp, ? EUR") else "B")


for form in ["{}", "Answer {}", "Response {}", "**{}**"]:
    judge = RubricJudge(Client(form), Rubric())
    print(f"{form.format('B')}: {judge.head_to_head('order', candidate='lamp, 7 EUR', reference='lamp, ? EUR', context='')}")
PY
seen=$(python/bin/python prefer.py)
expected='Winner: B: B -24
Winner: [B]: A +8
Winner: **B**: A +8
Winner: a draw: A +8
an error: draw -8
B: win
Answer B: tie
Response B: tie
**B**: tie'
echo "$seen"
[ "$seen" = "$expected" ]
