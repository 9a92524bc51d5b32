#!/usr/bin/env bash
# In pytest-evals, evaluations whose class or file is marked are not run when evaluations are, and their analysis passes without a result.
#
# Versions: pytest-evals 0.3.4, pytest 9.2.0 (PyPI).
# Behaviour: `@pytest.mark.eval` marks an evaluation, which is to run with `--run-eval` only. pytest's documentation has a mark of a class, or `pytestmark` in a file, apply to all
# tests below. pytest-evals looks at the marks of the function itself. A case of a marked class is no evaluation for it, so with `--run-eval` it is removed, without
# being counted as skipped or deselected. The analysis gets an empty list, for which a check of all results, or of no wrong one, holds. Without `--run-eval`, when no model
# is to be asked, the same cases are run. The description has marked functions in its examples, and does not say that other marks are ignored.
# Guess before the run: three cases that fail the analysis, and no case without the option.
# Seen (three cases for each mark, and an analysis that wants all answers to be right; all answers are wrong; how often the agent was asked, results in the analysis, its outcome):
#   --run-eval --run-eval-analysis: function: 3 asked, 3 results, failed; class: 0 asked, 0 results, passed; file: 0 asked, 0 results, passed
#   no option: function: 0 asked; class: 3 asked; file: 3 asked
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pytest-evals==0.3.4 pytest==9.2.0

cat >agent.py <<'PY'
def asked():
    with open("asked", "a") as log:
        log.write("a")
    return "wrong"
PY
for name in function class file; do
  cat >"test_$name.py" <<PY
import pytest
from agent import asked

mark = pytest.mark.eval(name="$name")
cases = pytest.mark.parametrize("case", range(3))
if "$name" == "function":

    @mark
    @cases
    def test_answers(case, eval_bag):
        eval_bag.right = asked() == "right"


if "$name" == "class":

    @mark
    class TestAnswers:
        @cases
        def test_answers(self, case, eval_bag):
            eval_bag.right = asked() == "right"


if "$name" == "file":
    pytestmark = [mark]

    @cases
    def test_answers(case, eval_bag):
        eval_bag.right = asked() == "right"
PY
  cat >"test_z_$name.py" <<PY
import pytest


@pytest.mark.eval_analysis(name="$name")
def test_all_are_right(eval_results):
    with open("results", "a") as log:
        log.write("r" * len(eval_results))
    assert all(result.result.right for result in eval_results)
PY
done
seen=$(
  for options in "--run-eval --run-eval-analysis" ""; do
    echo "options $options"
    for name in function class file; do
      rm -rf asked results test-out
      touch asked results
      # shellcheck disable=SC2086 # Several options.
      python/bin/python -m pytest -q -p no:cacheprovider $options "test_$name.py" "test_z_$name.py" >pytest.log 2>&1 || true
      echo "$name: $(wc -c <asked) asked, $(wc -c <results) results, $(tail -n 1 pytest.log | sed 's/, [0-9]* warnings\{0,1\}//; s/ in .*//')"
    done
  done
)
expected='options --run-eval --run-eval-analysis
function: 3 asked, 3 results, 1 failed, 3 passed
class: 0 asked, 0 results, 1 passed
file: 0 asked, 0 results, 1 passed
options 
function: 0 asked, 0 results, 4 skipped
class: 3 asked, 0 results, 3 passed, 1 skipped
file: 3 asked, 0 results, 3 passed, 1 skipped'
echo "$seen"
[ "$seen" = "$expected" ]
