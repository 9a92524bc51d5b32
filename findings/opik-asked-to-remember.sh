#!/usr/bin/env bash
# In Opik, an assistant that forgets everything has a knowledge retention of 1 if it was asked to remember.
#
# Versions: opik 2.2.122 (PyPI).
# Behaviour: `KnowledgeRetentionMetric` collects the longer words of what the user said, and gives the part of them that the last answer has. Turns that ask
# for something are left out as a whole, facts included: those with a question mark anywhere, and those with one word of a list, such as "please",
# "help", "let", "want", "may" or "can". If nothing is left, the score is 1, with the reason that there are no facts to retain. So the sentence that such
# a metric is for, a request to keep something in mind, is the one that it does not read. The documentation says that explicit requests are excluded, with
# questions and calls for help as examples, but not that a fact goes with them, nor that what was not measured is a full score.
# Seen (a user with an allergy to peanuts, and an assistant that suggests satay sauce, which is made of them):
#   "I have an allergy to peanuts." 0; the same after "Please remember:" 1; "I may not eat peanuts, I have an allergy." 1;
#   "I have an allergy to peanuts. Is that fine?" 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check opik==2.2.122

cat >retention.py <<'PY'
from opik.evaluation.metrics import KnowledgeRetentionMetric

metric = KnowledgeRetentionMetric(track=False)
for told in (
    "I have an allergy to peanuts.",
    "Please remember: I have an allergy to peanuts.",
    "I may not eat peanuts, I have an allergy.",
    "I have an allergy to peanuts. Is that fine?",
):
    texts = [told, "Noted.", "What do you suggest for lunch?", "The noodles with satay sauce."]
    roles = ["user", "assistant"] * 2
    result = metric.score([{"role": role, "content": text} for role, text in zip(roles, texts)])
    print(f"{told} {result.value:g}, {result.reason}")
PY
export HOME="$folder" LITELLM_LOCAL_MODEL_COST_MAP=True
seen=$(python/bin/python retention.py 2>python.log)
expected='I have an allergy to peanuts. 0, Retained 0 of 2 reference terms
Please remember: I have an allergy to peanuts. 1, No facts to retain
I may not eat peanuts, I have an allergy. 1, No facts to retain
I have an allergy to peanuts. Is that fine? 1, No facts to retain'
echo "$seen"
[ "$seen" = "$expected" ]
