#!/usr/bin/env bash
# In juryeval, the interval of a comparison is that of the mean of both models together, and a model that is better in each question has no significant difference.
#
# Versions: juryeval 0.5.0 (PyPI). The package cannot be imported without torch and others, which its description calls optional; the script leaves them out, and imports the part with the
# statistics only.
# Behaviour: `compare_models` is documented as a comparison of two models that has win rates, intervals and a p-value. Its `ci_lower` and `ci_upper` come from the scores of both models in
# one list. So they are the interval of neither mean, and not of the difference, and have none of the three in them if the models are far apart; who looks for 0 in it, or for a mean,
# concludes what the data do not say. The win rate compares the models question by question, but the p-value does not: it shuffles all scores. If the questions are of different
# difficulty, a model that is better in each of 20 questions has a p-value near 1. With random signs for the differences, 2 of 2^20 arrangements are as far from zero.
# Guess before the run: an interval of the difference, and a small p-value.
# Seen (mean of A, mean of B, interval, win rate, p-value):
#   50 questions, A 0.9 or 1, B 0.1 or 0.2: 0.94, 0.14, 0.47 to 0.62, 1, 0.00; 20 questions, B 0.05 to 1, A better by 0.02 in each: 0.545, 0.525, 0.44 to 0.62, 1, 0.84
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-deps juryeval==0.5.0

cat >comparison.py <<'PY'
import sys
from pathlib import Path
from statistics import mean
from types import ModuleType

package = sys.modules["juryeval"] = ModuleType("juryeval")
package.__path__ = [str(folder) for folder in (Path(place, "juryeval") for place in sys.path) if folder.is_dir()]
from juryeval.significance import compare_models

hard_to_easy = [number * 0.05 for number in range(1, 21)]
studies = {
    "far apart": ([0.9] * 30 + [1.0] * 20, [0.1] * 30 + [0.2] * 20),
    "better in each": ([score + 0.02 for score in hard_to_easy], hard_to_easy),
}
for name, (first, second) in studies.items():
    result = compare_models(first, second, seed=1)
    low, high = result["ci_lower"], result["ci_upper"]
    print(f"{name}: means {mean(first):.3f} and {mean(second):.3f}, interval {low:.2f} to {high:.2f}, win rate {result['win_rate']:g}, p {result['p_value']:.2f}")
    named = {"mean of A": mean(first), "mean of B": mean(second), "difference": mean(first) - mean(second)}
    print(f"{name}: in the interval:", ", ".join(key for key, value in named.items() if low <= value <= high) or "none of them")
PY
seen=$(python/bin/python comparison.py)
expected='far apart: means 0.940 and 0.140, interval 0.47 to 0.62, win rate 1, p 0.00
far apart: in the interval: none of them
better in each: means 0.545 and 0.525, interval 0.44 to 0.62, win rate 1, p 0.84
better in each: in the interval: mean of A, mean of B'
echo "$seen"
[ "$seen" = "$expected" ]
