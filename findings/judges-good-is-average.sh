#!/usr/bin/env bash
# In judges, an answer that all judges find terrible has the verdict True, and one that all find bad, and one that all find good, are average.
#
# Versions: judges 0.1.1 (PyPI). The judges are classes of the script, as no model is asked.
# Behaviour: A judge may give one of five grades, which the description lists: terrible, bad, average, good, excellent. A jury of them counts from 1 to 5. But "good" and "bad", which are
# answers of judges that say true or false as well, become true and false first, as the field with the kind of score is read after the score. Neither is in the list of grades
# then, and what is not in the list counts as 3, the average. The mean is written to a field for a bool or a whole number, where 1.0 becomes true. So the order of the
# verdicts is not that of the answers, and a program that takes the verdict for a bool passes the terrible one. A mean of grades that is not whole is an error.
# Guess before the run: 1 to 5.
# Seen (juries of three judges that agree; the verdict, and what became of the grade of each judge):
#   terrible: True; bad: 3, from False; average: 3; good: 3, from True; excellent: 5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check judges==0.1.1

cat >jury.py <<'PY'
from judges.base import BaseJudge, Judgment, Jury


class Judge(BaseJudge):
    def __init__(self, grade):
        self.grade = grade

    def judge(self, input, output=None, expected=None):
        return Judgment(reasoning="", score=self.grade, score_type="likert")


def vote(*grades):
    jury = Jury(judges=[Judge(grade) for grade in grades], voting_method="average")
    verdict = jury.vote(input="How long may I send it back?", output="For 30 days.")
    print(*grades, "is", verdict.score, "from", *(judgment.score for judgment in verdict.judgments))


for grade in ("terrible", "bad", "average", "good", "excellent"):
    vote(grade, grade, grade)
vote("good", "good", "bad")
PY
seen=$(python/bin/python jury.py)
expected='terrible terrible terrible is True from terrible terrible terrible
bad bad bad is 3 from False False False
average average average is 3 from average average average
good good good is 3 from True True True
excellent excellent excellent is 5 from excellent excellent excellent
good good bad is 3 from True True False'
echo "$seen"
[ "$seen" = "$expected" ]
