#!/usr/bin/env bash
# In OpenSkill, models with the mean ranks 1.2, 1.4 and 1.9 are level with Plackett-Luce, as each rank is cut to a whole number.
#
# Versions: openskill 6.2.0 (PyPI).
# Behaviour: `rate` takes the order of the teams as `ranks`, documented as a list of floats where lower values are better. The Plackett-Luce model, which the documentation
# has in its examples, turns each of them into an int. So ranks that are means, as if several judges have ranked the same answers, are equal as long as their whole
# part is: 1.0 and 1.9 are a tie, and 1.9 and 2.0 are a win. Ties do not change the ratings of equal models, so that a model that always has the better mean stays where it was.
# The four other models of the package compare the ranks as they are. Scores, the other way to give the order, are turned into whole ranks
# before, and work with all models.
# Guess before the run: the same order with all models.
# Seen (three new models, ten games with the ranks 1.2, 1.4 and 1.9; ratings):
#   PlackettLuce 25.0 25.0 25.0, with scores 1.9, 1.4, 1.2: 43.2 26.1 6.9; the four others are in order with both
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check openskill==6.2.0

cat >games.py <<'PY'
from openskill.models import BradleyTerryFull, BradleyTerryPart, PlackettLuce, ThurstoneMostellerFull, ThurstoneMostellerPart

for kind in (PlackettLuce, BradleyTerryFull, BradleyTerryPart, ThurstoneMostellerFull, ThurstoneMostellerPart):
    print(kind.__name__, end=":")
    for given in ({"ranks": [1.2, 1.4, 1.9]}, {"scores": [1.9, 1.4, 1.2]}):
        model = kind()
        teams = [[model.rating()] for _ in range(3)]
        for _ in range(10):
            teams = model.rate(teams, **given)
        first, second, third = (team[0].mu for team in teams)
        order = "in order" if first > second > third else "level" if first == second == third else "other"
        print(f" {next(iter(given))} {order}", *([f"{first:.1f} {second:.1f} {third:.1f}"] if kind is PlackettLuce else []), end=";")
    print()
PY
seen=$(python/bin/python games.py)
expected='PlackettLuce: ranks level 25.0 25.0 25.0; scores in order 43.2 26.1 6.9;
BradleyTerryFull: ranks in order; scores in order;
BradleyTerryPart: ranks in order; scores in order;
ThurstoneMostellerFull: ranks in order; scores in order;
ThurstoneMostellerPart: ranks in order; scores in order;'
echo "$seen"
[ "$seen" = "$expected" ]
