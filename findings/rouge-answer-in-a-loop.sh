#!/usr/bin/env bash
# In the package rouge, an answer that is stuck in a loop has a ROUGE-1 and a ROUGE-L of 1.
#
# Versions: rouge 1.0.1, rouge-score 0.1.2 (PyPI).
# Behaviour: ROUGE counts each word as often as it comes. The package collects words, and sequences of two, in sets, unless the constructor has `exclusive=False`, which
# neither the description nor the help of the command mentions. So each word counts once in the reference and once in the answer: an answer that repeats
# the right sentence without end is perfect, and so is one that gives half of a repeated reference. ROUGE-L is a set of words, too. In rouge-score, the repetition
# lowers the precision.
# Guess before the run: a precision of 0.1 for ten repetitions.
# Seen (reference "the order was refunded"; F of ROUGE-1 and ROUGE-L; the same of rouge-score; with exclusive=False):
#   once: 1.00 1.00, 1.00 1.00, 1.00 1.00; ten times: 1.00 1.00, 0.18 0.18, 0.18 0.18;
#   "no" ten times for "no no": 1.00 1.00, 0.33 0.33, 0.33 0.33
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check rouge==1.0.1 rouge-score==0.1.2 numpy==2.4.6 nltk==3.9.2

cat >loop.py <<'PY'
from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer

scorer = RougeScorer(["rouge1", "rougeL"])


def measured(rouge, answer, reference):
    [scores] = rouge.get_scores(answer, reference)
    return f"{scores['rouge-1']['f']:.2f} {scores['rouge-l']['f']:.2f}"


sentence = "the order was refunded"
for name, answer, reference in [
    ("once", sentence, sentence),
    ("ten times", " ".join([sentence] * 10), sentence),
    ("no ten times", " ".join(["no"] * 10), "no no"),
]:
    usual = scorer.score(reference, answer)
    values = [
        measured(Rouge(), answer, reference),
        f"{usual['rouge1'].fmeasure:.2f} {usual['rougeL'].fmeasure:.2f}",
        measured(Rouge(exclusive=False), answer, reference),
    ]
    print(f"{name}: {', '.join(values)}")
PY
seen=$(python/bin/python loop.py)
expected='once: 1.00 1.00, 1.00 1.00, 1.00 1.00
ten times: 1.00 1.00, 0.18 0.18, 0.18 0.18
no ten times: 1.00 1.00, 0.33 0.33, 0.33 0.33'
echo "$seen"
[ "$seen" = "$expected" ]
