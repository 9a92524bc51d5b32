#!/usr/bin/env bash
# In juryeval, it depends on the process whom a jury of two judges that disagree has elected.
#
# Versions: juryeval 0.5.0 (PyPI). The judges are functions of the script. The package cannot be imported without torch and others, which its description calls optional; the script leaves
# them out, and imports the part with the juries only.
# Behaviour: A jury returns a `majority_winner`, which is documented as "A", "B" or "tie". If two answers have the same number of votes, there is no majority; the winner is the first of a
# set of texts, whose order changes from one start of Python to the next. So two runs over the same verdicts rank the models differently, and a seed for the random numbers does not help.
# A jury without a majority looks like one that has one: only `agreement`, which is 0.5 or less, tells. Juries of two judges are what the description shows.
# Guess before the run: "tie", or the vote of the first judge.
# Seen (20 starts of Python for each jury):
#   A, B: winner A or B, agreement 0.5; A, B, tie: A or B or tie, agreement 0.33; A, A, B: A, agreement 0.67
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-deps juryeval==0.5.0

cat >jury.py <<'PY'
import sys
from pathlib import Path
from types import ModuleType

package = sys.modules["juryeval"] = ModuleType("juryeval")
package.__path__ = [str(folder) for folder in (Path(place, "juryeval") for place in sys.path) if folder.is_dir()]
from juryeval.judges import MultiJudgeEnsemble


class Judge:
    def __init__(self, winner):
        self.winner = winner

    def compare(self, answer_a, answer_b, question=""):
        return {"winner": self.winner, "score": {"A": 1.0, "B": 0.0, "tie": 0.5}[self.winner]}


for votes in (("A", "B"), ("A", "B", "tie"), ("A", "A", "B")):
    result = MultiJudgeEnsemble([Judge(vote) for vote in votes]).compare("The order is refunded.", "The order is locked.")
    print(f"{', '.join(votes)}: {result['majority_winner']}, agreement {result['agreement']:.2f}")
PY
seen=$(
  for seed in $(seq 20); do PYTHONHASHSEED=$seed python/bin/python jury.py; done | sort | uniq -c | sed 's/^ *[0-9]* //'
)
expected='A, A, B: A, agreement 0.67
A, B, tie: A, agreement 0.33
A, B, tie: B, agreement 0.33
A, B, tie: tie, agreement 0.33
A, B: A, agreement 0.50
A, B: B, agreement 0.50'
echo "$seen"
[ "$seen" = "$expected" ]
