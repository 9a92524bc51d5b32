#!/usr/bin/env bash
# In Inspect, which of two epochs came first decides whether a sample is correct; and the probability to pass can be no number.
#
# Versions: inspect_ai 0.3.285 (PyPI).
# Behaviour: with the epoch reducer `mode`, a tie is won by the value that was seen first: C, I is correct and I, C incorrect. With an even
# number of epochs, the accuracy of an agent that passes every second time depends on when it passes. `pass_at(2)` of one epoch is NaN, and not
# an error, also if that epoch was correct.
# Seen:
#   mode: C,I is C; I,C is I; C,C,I,I is C; I,C,C,I is I; pass_at 2 of one correct epoch: nan, of C,I: 1.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check inspect_ai==0.3.285

seen=$(python/bin/python - <<'PY'
from inspect_ai.scorer import Score, mode_score, pass_at

for reducer, epochs in [(mode_score(), "CI"), (mode_score(), "IC"), (mode_score(), "CCII"), (mode_score(), "ICCI"), (pass_at(2), "C"), (pass_at(2), "CI")]:
    print(epochs, reducer([Score(value=value) for value in epochs]).value, end="; ")
PY
)
echo "$seen"
[ "$seen" = 'CI C; IC I; CCII C; ICCI I; C nan; CI 1.0; ' ]
