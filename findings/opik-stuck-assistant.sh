#!/usr/bin/env bash
# In Opik, an assistant that is stuck in a loop has half the risk of degeneration of one that rightly answers "Yes." twice.
#
# Versions: opik 2.2.122 (PyPI).
# Behaviour: `ConversationDegenerationMetric` is to show where an assistant got stuck. The risk of a reply is the average of four parts: repetition inside the
# reply, words shared with the reply before it, known phrases, and a low variety of words. A reply that says again what the last one said has only the
# second of them, so its risk is a quarter, however often it comes. A reply of one word has no variety, which is a quarter as well, and half if it comes
# twice. Two replies that take turns share nothing with the reply before, and have no risk at all. The example in the documentation has one reply twice, as
# the first line below, and gives a risk of 0.75 for it.
# Seen:
#   one reply twice 0.25; one reply 20 times 0.25; two replies 10 times in turn 0.00; "Yes." 0.25; "Yes." to two questions 0.50
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check opik==2.2.122

cat >degeneration.py <<'PY'
from opik.evaluation.metrics import ConversationDegenerationMetric


def conversation(*replies):
    for number, reply in enumerate(replies):
        yield {"role": "user", "content": f"Question {number}: what about my parcel?"}
        yield {"role": "assistant", "content": reply}


metric = ConversationDegenerationMetric(track=False)
stuck = "I am looking into the status of your parcel and will be back at once with more details."
for name, replies in [
    ("one reply twice", [stuck] * 2),
    ("one reply 20 times", [stuck] * 20),
    ("two replies in turn", [stuck, "Thanks for waiting."] * 10),
    ("yes", ["Yes."]),
    ("yes to two questions", ["Yes."] * 2),
]:
    print(f"{name} {metric.score(list(conversation(*replies))).value:.2f}", end="; ")
PY
export HOME="$folder" LITELLM_LOCAL_MODEL_COST_MAP=True
seen=$(python/bin/python degeneration.py 2>python.log)
echo "$seen"
[ "$seen" = 'one reply twice 0.25; one reply 20 times 0.25; two replies in turn 0.00; yes 0.25; yes to two questions 0.50; ' ]
