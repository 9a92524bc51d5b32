#!/usr/bin/env bash
# Math-Verify reads a number with an exponent as its mantissa: 1.5e3 equals 1.5, and not 1500.
#
# Versions: math-verify 0.9.0, latex2sympy2_extended 1.11.0, sympy 1.14.0 (PyPI).
# Behaviour: an answer that is not LaTeX is searched for plain numbers and expressions. A number ends before `e`, so of `2.5e-05`, as Python and most
# calculators print it, 2.5 remains, and the rest is ignored. The documentation of `ExprExtractionConfig` speaks of mathematical expressions and excludes
# nothing. A model that computes its answer with a tool fails as soon as the answer is large or small, and a wrong one passes: 1e23 equals 1.
# In LaTeX, the `e` is Euler's number. Written as 1.5*10^3, the same number is equal.
# Seen (gold and answer):
#   1500 1.5e3 False; 1.5 1.5e3 True; 0.000025 2.5e-05 False; 2.5 2.5e-05 True; 1 1e+23 True; 1500 $1.5e3$ False; 1500 1.5*10^3 True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check math-verify==0.9.0 latex2sympy2_extended==1.11.0 sympy==1.14.0 antlr4-python3-runtime==4.13.2

seen=$(python/bin/python - <<'PY'
from math_verify import parse, verify

for gold, answer in (
    ("1500", "1.5e3"),
    ("1.5", "1.5e3"),
    ("0.000025", str(0.000025)),
    ("2.5", str(0.000025)),
    ("1", str(1e23)),
    ("1500", "$1.5e3$"),
    ("1500", "1.5*10^3"),
):
    print(gold, answer, verify(parse(gold), parse(answer)), end="; ")
PY
)
echo "$seen"
# shellcheck disable=SC2016 # the dollars are those of LaTeX
[ "$seen" = '1500 1.5e3 False; 1.5 1.5e3 True; 0.000025 2.5e-05 False; 2.5 2.5e-05 True; 1 1e+23 True; 1500 $1.5e3$ False; 1500 1.5*10^3 True; ' ]
