#!/usr/bin/env bash
# In Evalica, the eigenvector method ranks the model first that loses most; in Elo, a win of small weight costs the winner points.
#
# Versions: evalica 0.4.2 (PyPI), numpy 2.4.6, pandas 3.1.1.
# Behaviour: `eigen` refers to Bonacich's centrality of a matrix whose rows win: the eigenvector of the wins. What is computed is the one of the
# losses, so the worst model is at the top of the scores, which are sorted. The other six methods have the right order. `elo` takes `weights` of the
# comparisons and multiplies the result by the weight, not the difference from the expected result. A comparison of weight 0 costs both sides
# points, and a model that wins eight comparisons of weight 0.25 ends below where it began. `bradley_terry` and `counting` use the same
# weights as one expects. Both solvers, Rust and Python, agree.
# Seen (20 comparisons of each model: a wins 18, b 10, c 2; then a wins against b):
#   counting a b c; average_win_rate a b c; bradley_terry a b c; newman a b c; elo a b c; pagerank a b c; eigen c b a
#   weight 1: 1002.0 998.0; weight 0.25, eight times: 991.8 984.2; weight 0: 998.0 998.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check evalica==0.4.2 numpy==2.4.6 pandas==3.1.1

seen=$(python/bin/python - <<'PY'
import evalica
from evalica import Winner

firsts, seconds = ["a", "b", "a"] * 10, ["b", "c", "c"] * 10
winners = [Winner.X] * 27 + [Winner.Y] * 3
for solver in ("pyo3", "naive"):
    for name in ("counting", "average_win_rate", "bradley_terry", "newman", "elo", "pagerank", "eigen"):
        scores = getattr(evalica, name)(firsts, seconds, winners, solver=solver).scores
        print(name, *scores.index, end="; ")
    for weight, times in ((1, 1), (0.25, 8), (0, 1)):
        scores = evalica.elo(["a"] * times, ["b"] * times, [Winner.X] * times, weights=[weight] * times, solver=solver).scores
        print(f"weight {weight}: {scores['a']:.1f} {scores['b']:.1f}", end="; ")
    print()
PY
)
echo "$seen"
line='counting a b c; average_win_rate a b c; bradley_terry a b c; newman a b c; elo a b c; pagerank a b c; eigen c b a; '
line+='weight 1: 1002.0 998.0; weight 0.25: 991.8 984.2; weight 0: 998.0 998.0; '
[ "$seen" = "$line"$'\n'"$line" ]
