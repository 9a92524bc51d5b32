#!/usr/bin/env bash
# In Pingouin, the p-value that is documented as a test for a bias between raters finds one where there is none, and none where there is one.
#
# Versions: pingouin 0.7.0 (PyPI), numpy 2.4.6, pandas 3.1.1, scipy 1.17.1.
# Behaviour: The documentation of `intraclass_corr` describes F and p as a test of systematic differences between raters, where a significant p means that the
# means of the raters differ, and its guidance repeats that. But F is the mean square of the items by that of the residuals, which tests whether the items
# differ. Two judges who agree, and have about the same mean, have p = 0. A judge who always gives three points more than the other has p = 0.5. An
# ANOVA with repeated measures of the same scores, by the same package, finds the opposite. In `cronbach_alpha`, if rows with missing values are
# removed with `listwise`, the interval is computed for the number of all rows, the removed ones included.
# Seen (two judges of 20 items; two judges of 12 items, of whom one gives three points more; five questions, all of which are answered in 12 of 60 rows):
#   equal means: pingouin p 0.000, ANOVA 0.863; three points more: pingouin p 0.500, ANOVA 0.000;
#   alpha 0.791: listwise 0.694 to 0.864, complete rows alone 0.519 to 0.931
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pingouin==0.7.0 numpy==2.4.6 pandas==3.1.1 scipy==1.17.1

cat >judges.py <<'PY'
import numpy
import pandas
from pingouin import cronbach_alpha, intraclass_corr, rm_anova


def judges(name, table):
    rows = [(item, judge, score) for item, scores in enumerate(table) for judge, score in enumerate(scores)]
    data = pandas.DataFrame(rows, columns=["item", "judge", "score"])
    found = intraclass_corr(data, targets="item", raters="judge", ratings="score").set_index("Type")
    anova = rm_anova(data, dv="score", within="judge", subject="item")
    print(f"{name}: pingouin p {found.at['ICC(A,1)', 'pval']:.3f}, ANOVA {anova.at[0, 'p_unc']:.3f}", end="; ")


draws = numpy.random.default_rng(0)
quality = numpy.tile(numpy.arange(1, 11), 2)
judges("equal means", numpy.stack([quality + draws.choice([-1, 0, 1], 20), quality + draws.choice([-1, 0, 1], 20)], axis=1))
judges("three points more", [(5, 8), (6, 8), (5, 9), (6, 9)] * 3)

answers = pandas.DataFrame(draws.integers(1, 6, (60, 1)) + draws.normal(0, 1.5, (60, 5)))
answers.iloc[12:, 4] = None
for name, (alpha, interval) in [
    ("listwise", cronbach_alpha(answers, nan_policy="listwise")),
    ("complete rows alone", cronbach_alpha(answers.dropna())),
]:
    print(f"alpha {alpha:.3f}, {name} {interval[0]:.3f} to {interval[1]:.3f}", end="; ")
PY
seen=$(python/bin/python -W ignore judges.py)
expected='equal means: pingouin p 0.000, ANOVA 0.863; three points more: pingouin p 0.500, ANOVA 0.000; '
expected+='alpha 0.791, listwise 0.694 to 0.864; alpha 0.791, complete rows alone 0.519 to 0.931; '
echo "$seen"
[ "$seen" = "$expected" ]
