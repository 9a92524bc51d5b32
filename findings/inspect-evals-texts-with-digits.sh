#!/usr/bin/env bash
# In the AssistantBench of Inspect Evals, a text with a digit is a number: the 24th of December is the 1st of May, and "12 monkeys" is the address 12 Baker Street.
#
# Versions: inspect-evals 0.26.0, inspect_ai 0.3.285 (PyPI). No model is asked, and no data set is loaded.
# Behaviour: The scorer is documented to compare texts by the F1 of their words, and numbers by how near they are, within an order of magnitude. Which of these an answer is, is decided by whether a number
# can be found in it, to allow for currencies and units. So each text with a digit, such as an address, a date, a name or a flight, is its first number, once the spaces are taken out, and the rest does not
# count: an answer that has nothing but that number in common is right, and one with a near number nearly right. If only one of the two has a digit, their kinds differ and the score is 0,
# also if all words but one are equal. Two texts without a digit are compared by their words.
# Guess before the run: the F1 of the words.
# Seen (expected, answered, score):
#   12 Baker Street, 12 monkeys: 1; Baker Street: 0; 2026-05-01, 2026-12-24: 1; Apollo 13, Apollo 11: 0.93; I found 13 results, none fits: 1; 7 Eleven, Seven Eleven: 0; Central Park, Central Park 2: 0;
#   without digits, Baker Street, Baker monkeys: 0.5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check inspect-evals==0.26.0 inspect_ai==0.3.285

cat >answers.py <<'PY'
from inspect_evals.assistant_bench.scoring import score_answer

for expected, answer in [
    ("12 Baker Street", "12 monkeys"),
    ("12 Baker Street", "Baker Street"),
    ("2026-05-01", "2026-12-24"),
    ("Apollo 13", "Apollo 11"),
    ("Apollo 13", "I found 13 results, none fits"),
    ("7 Eleven", "Seven Eleven"),
    ("Central Park", "Central Park 2"),
    ("Baker Street", "Baker monkeys"),
]:
    print(f"{expected}, {answer}: {score_answer(answer, expected):.2f}")
PY
seen=$(python/bin/python -W ignore answers.py)
expected='12 Baker Street, 12 monkeys: 1.00
12 Baker Street, Baker Street: 0.00
2026-05-01, 2026-12-24: 1.00
Apollo 13, Apollo 11: 0.93
Apollo 13, I found 13 results, none fits: 1.00
7 Eleven, Seven Eleven: 0.00
Central Park, Central Park 2: 0.00
Baker Street, Baker monkeys: 0.50'
echo "$seen"
[ "$seen" = "$expected" ]
