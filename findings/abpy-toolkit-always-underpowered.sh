#!/usr/bin/env bash
# In abpy-toolkit, a million runs of each of two equal agents are "underpowered", and so is a significant difference, unless its p-value is less than 0.005.
#
# Versions: abpy-toolkit 0.1.1, scipy 1.17.1 (PyPI).
# Behaviour: the recommendation says which variant wins, that there is no significant difference, or that the test had too little power, which is looked at first. The power is that
# for the difference that was seen, which is the p-value in another scale: at a p-value of 0.05 it is 50 %, and it is less for every larger one, however many runs there are.
# As 80 % are asked for, "no significant difference" is never said, and of significant differences, those with a p-value from 0.005 to 0.05 are inconclusive, also that of the
# first example of the description. In an experiment with several variants, the winner is found by the p-value, so a report names a winner of a comparison that is inconclusive
# in the line before. The list of parameters has alpha as the significance level, and the power as power.
# Guess before the run: no significant difference between equal agents with a million runs each; the better one wins at a p-value of 0.04.
# Seen (runs of each agent, runs that passed, p-value, recommendation): 1,000,000, 500,000 and 500,000, 1.0000, underpowered; 1,000, 900 and 870, 0.0355, underpowered;
#   1,000, 900 and 860, 0.0059, underpowered; 1,000, 900 and 855, 0.0021, the first one wins; three agents with 900, 870 and 890: all underpowered, and 900 wins
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check abpy-toolkit==0.1.1 scipy==1.17.1
cat >compare.py <<'PY'
import contextlib
import io

from abpy.router import Experiment


def run(kind, runs, passed):
    experiment = Experiment(type=kind, metric="binary", input="direct")
    experiment.fit({name: {"n": runs, "successes": count} for name, count in passed.items()})
    with contextlib.redirect_stdout(io.StringIO()):
        return experiment.results()


for runs, old, new in [(1_000_000, 500_000, 500_000), (1000, 900, 870), (1000, 900, 860), (1000, 900, 855)]:
    result = run("ab", runs, {"old": old, "new": new})
    print(f"{old} and {new} of {runs}: {result.p_value:.4f} {result.recommendation.split()[0]}")
result = run("multivariate", 1000, {"old": 900, "new": 870, "third": 890})
print({text.split()[0] for text in result.recommendations.values()}, result.winner)
PY
seen=$(python/bin/python compare.py)
expected="500000 and 500000 of 1000000: 1.0000 underpowered
900 and 870 of 1000: 0.0355 underpowered
900 and 860 of 1000: 0.0059 underpowered
900 and 855 of 1000: 0.0021 1st
{'underpowered'} first one among the 'old vs new' wins"
echo "$seen"
[ "$seen" = "$expected" ]
