#!/usr/bin/env bash
# In pydantic-evals, a judge that gives every case the same score is better than one that puts the only positive case second of ten.
#
# Versions: pydantic-evals 2.62.0 (PyPI), scikit-learn 1.9.1 for comparison.
# Behaviour: `PrecisionRecallEvaluator` reports the area under the curve of precision and recall, as a number to query and to sort experiments by, and documents it as
# computed at full resolution for accuracy. The curve starts at a precision of 1 with a recall of 0, where nothing was predicted, and its points are joined by straight
# lines. A judge that cannot tell the cases apart has a single further point, so half of its area is made up: with one positive case in ten it has 0.55, and the usual
# average precision is 0.1. It is ahead of judges that put the positive case near the top, and the fewer different scores a judge gives, the more it gains. The
# evaluator for the ROC curve beside it has the right order.
# Guess before the run: 0.1 for the constant judge, and the order of the ROC curve.
# Seen (one positive case of ten; area under precision and recall, under ROC, average precision of scikit-learn):
#   always 0.5: 0.55, 0.50, 0.10; positive case second: 0.25, 0.89, 0.50; third: 0.17, 0.78, 0.33; only 0 and 1, with four false alarms: 0.60, 0.78, 0.20
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pydantic-evals==2.62.0 scikit-learn==1.9.1

cat >areas.py <<'PY'
from dataclasses import dataclass

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, PrecisionRecallEvaluator, ROCAUCEvaluator
from sklearn.metrics import average_precision_score


@dataclass
class Judge(Evaluator):
    def evaluate(self, context):
        return {"score": context.output}


def show(label, scores):
    """The first case is the positive one."""
    positive = [place == 0 for place in range(len(scores))]
    cases = [Case(name=str(place), inputs=place, expected_output=expected) for place, expected in enumerate(positive)]
    evaluators = [evaluator(score_key="score", positive_from="expected_output") for evaluator in [PrecisionRecallEvaluator, ROCAUCEvaluator]]
    data = Dataset(name="judge", cases=cases, evaluators=[Judge()], report_evaluators=evaluators)
    report = data.evaluate_sync(lambda place: scores[place], progress=False)
    areas = [analysis.value for analysis in report.analyses if analysis.type == "scalar"]
    print(f"{label}:", *(f"{value:.2f}" for value in [*areas, average_precision_score(positive, scores)]))


show("always 0.5", [0.5] * 10)
show("second", [0.85, 0.9, *(place / 10 for place in range(8))])
show("third", [0.75, 0.9, 0.8, *(place / 10 for place in range(7))])
show("four false alarms", [1.0] * 5 + [0.0] * 5)
PY
seen=$(python/bin/python areas.py)
expected='always 0.5: 0.55 0.50 0.10
second: 0.25 0.89 0.50
third: 0.17 0.78 0.33
four false alarms: 0.60 0.78 0.20'
echo "$seen"
[ "$seen" = "$expected" ]
