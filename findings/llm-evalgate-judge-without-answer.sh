#!/usr/bin/env bash
# In llm-evalgate, a judge that cannot be reached agrees with itself in all comparisons, and a text whose claims cannot be read is faithful.
#
# Versions: llm-evalgate 0.6.0 (PyPI). The models are functions of the script.
# Behaviour: The package says that its judges fail closed: an error, or an answer that cannot be read, scores 0. The pairwise judge asks in both orders, and trusts a verdict that is the same
# in both. An error counts as a tie, so a judge that never answers finds a tie twice: the result is consistent, needs no review, and the bias for the position is 0. One that always
# prefers the first answer has a bias of 1. For faithfulness, a model is asked for claims in lines of a given form, and for NONE if there are none. An answer in another form, as
# with a dash before each line, has no such lines, and is taken for NONE: score 1, passed, and no claim is verified. So is a refusal, and an empty answer.
# Guess before the run: a judge that cannot be reached needs a review; claims with dashes are read, or score 0.
# Seen (pairs: winner, review needed, bias; faithfulness of a text with two claims, of which the model would find none supported):
#   follows the position: tie, review, 1; cannot be reached: tie, no review, 0; claims as asked for: 0, failed; with dashes, refused, or empty: 1, passed; error: 0, failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check llm-evalgate==0.6.0

cat >judges.py <<'PY'
from llm_evalgate.judge import ClaimFaithfulnessDimension, PairwiseJudge
from llm_evalgate.judge.pairwise import position_bias_rate


def unreachable(prompt):
    raise ConnectionError("no route to the model")


def follows_position(prompt):
    return "WINNER: First\nREASON: It is first."


for judge in (follows_position, unreachable):
    pairwise = PairwiseJudge(judge, criteria="Which answer is right?")
    result = pairwise.compare("The order is refunded.", "The order is locked.")
    bias = position_bias_rate(pairwise, [("yes", "no"), ("5", "6")])
    print(f"{judge.__name__}: {result.winner}, {'review' if result.needs_review else 'no review'}, bias {bias:g}")

answers = {
    "as asked for": "CLAIM: The order is refunded.\nCLAIM: It cost 900 dollars.",
    "with dashes": "- CLAIM: The order is refunded.\n- CLAIM: It cost 900 dollars.",
    "refused": "I cannot help with that.",
    "empty": "",
    "error": None,
}
for name, answer in answers.items():
    def model(prompt):
        if answer is None:
            raise ConnectionError("no route to the model")
        return "VERDICT: UNSUPPORTED\nREASON: Not in the evidence." if "VERDICT" in prompt else answer

    result = ClaimFaithfulnessDimension(model, ["The order is locked."]).run("The order is refunded. It cost 900 dollars.")
    print(f"claims {name}: {result.score:g}, {'passed' if result.passed else 'failed'}")
PY
seen=$(python/bin/python judges.py)
expected='follows_position: tie, review, bias 1
unreachable: tie, no review, bias 0
claims as asked for: 0, failed
claims with dashes: 1, passed
claims refused: 1, passed
claims empty: 1, passed
claims error: 0, failed'
echo "$seen"
[ "$seen" = "$expected" ]
