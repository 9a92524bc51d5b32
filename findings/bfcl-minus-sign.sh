#!/usr/bin/env bash
# For the Berkeley Function Calling Leaderboard, -118.2437 degrees is 118.2437 degrees, and a quotient is a product.
#
# Versions: bfcl-eval 2026.3.23 (PyPI). Its list of models needs PyTorch and the packages of each provider, so it is replaced by one of one model.
# Behaviour: Before texts are compared, `standardize_string` removes blanks, commas, dots, slashes, hyphens, underscores, asterisks and circumflexes, so that
# the commas of a date do not matter, as its comment says. In a coordinate, a formula or a version, these characters are the meaning. So a customer in Los
# Angeles may be looked for in China or in Australia, and a derivative taken of another function. These are answers to two tasks of the leaderboard, and the
# descriptions and the expected answers are those of the package. Numbers and words that are wrong are found.
# Seen:
#   live_simple_113-69-0: 34.0522, -118.2437 valid; 34.0522, 118.2437 valid; -34.0522, 118.2437 valid; 34.0522, 118.2438 not valid
#   simple_python_14: 3x**2 + 2x - 1 valid; 3/x**2 + 2x - 1 valid; 3x*2 + 2x/1 valid; 3x**2 + 2x - 2 not valid
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-deps bfcl-eval==2026.3.23

cat >check.py <<'PY'
import json
import sys
from importlib.resources import files
from types import ModuleType, SimpleNamespace

models = ModuleType("bfcl_eval.constants.model_config")
models.MODEL_CONFIG_MAPPING = {"model": SimpleNamespace(underscore_to_dot=False)}
sys.modules[models.__name__] = models

from bfcl_eval.constants.enums import Language
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker


def task(folder, category, name):
    lines = (files("bfcl_eval") / "data" / folder / f"BFCL_v4_{category}.json").read_text().splitlines()
    return next(entry for entry in map(json.loads, lines) if entry["id"] == name)


for category, name, argument, others, answers in [
    (
        "live_simple",
        "live_simple_113-69-0",
        "geolocation",
        {"base_price": 100.0, "minimum_price": 90.0},
        ["34.0522, -118.2437", "34.0522, 118.2437", "-34.0522, 118.2437", "34.0522, 118.2438"],
    ),
    ("simple_python", "simple_python_14", "function", {}, ["3x**2 + 2x - 1", "3/x**2 + 2x - 1", "3x*2 + 2x/1", "3x**2 + 2x - 2"]),
]:
    functions = task("", category, name)["function"]
    expected = task("possible_answer", category, name)["ground_truth"]
    print(name, end=": ")
    for answer in answers:
        call = {functions[0]["name"]: {argument: answer, **others}}
        result = ast_checker(functions, [call], expected, Language.PYTHON, category, "model")
        print(answer, "valid" if result["valid"] else "not valid", end="; ")
    print()
PY
seen=$(python/bin/python check.py)
expected='live_simple_113-69-0: 34.0522, -118.2437 valid; 34.0522, 118.2437 valid; -34.0522, 118.2437 valid; 34.0522, 118.2438 not valid; 
simple_python_14: 3x**2 + 2x - 1 valid; 3/x**2 + 2x - 1 valid; 3x*2 + 2x/1 valid; 3x**2 + 2x - 2 not valid; '
echo "$seen"
[ "$seen" = "$expected" ]
