#!/usr/bin/env bash
# In Zentest, cases for which nothing was retrieved pass all retrieval metrics, and 500 is grounded in 1,500, which 1500 is not.
#
# Versions: zentest-sdk 0.5.2 (PyPI). No judge and no platform is asked: the three metrics are computed from words.
# Behaviour: A metric needs `retrieval_context`. The documentation says that a metric is skipped, and not passed, if a case lacks what it needs. An empty list counts as lacking, so a retriever that
# finds nothing is not scored. A case passes if no scored metric failed, which is true if none was scored: the report has a pass rate of 100 %, and `assert_test` does not fail. A retriever that finds
# something useless has 0 %. A claim is grounded if the source has its words and each number of the claim, according to the documentation. Numbers are runs of digits, so 1,500 is the
# two numbers 1 and 500. An agent that answers 500, or 1, is grounded in 1,500, and one that answers 1500 is not.
# Guess before the run: cases without retrieved texts fail, or do not count; a wrong number is not grounded.
# Seen (three cases each; then answers to a source that says 1,500 EUR):
#   nothing retrieved: passed, 100 %; useless text: failed, 0 %; right text: passed, 100 %; grounded: 500 1, 1 1, 1500 0, 1,500 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check zentest-sdk==0.5.2

cat >cases.py <<'PY'
from zentest import LLMTestCase, assert_test, evaluate
from zentest.metrics import ContextPrecision, ContextRecall, Groundedness

SOURCE = "The excess is 1,500 EUR for each claim."
METRICS = [Groundedness(), ContextRecall(), ContextPrecision()]


def case(retrieved, answer=SOURCE):
    return LLMTestCase(input="What is the excess?", actual_output=answer, expected_output=SOURCE, retrieval_context=retrieved)


for name, retrieved in [("nothing", []), ("useless", ["The offices are open on weekdays."]), ("right", [SOURCE])]:
    report = evaluate([case(retrieved)] * 3, METRICS)
    skipped = sum(metric["skipped"] for metric in report.metric_summary().values())
    print(f"{name}: passed {report.passed}, pass rate {report.pass_rate:.0%}, skipped {skipped} of 9")
print("test without retrieved texts:", "passed" if assert_test(case([]), METRICS).passed else "failed")
for number in ("500", "1", "1500", "1,500"):
    answer = f"The excess is {number} EUR for each claim."
    print(f"{number}: grounded {Groundedness().measure(case([SOURCE], answer)).score:g}")
PY
seen=$(python/bin/python cases.py)
expected='nothing: passed True, pass rate 100%, skipped 9 of 9
useless: passed False, pass rate 0%, skipped 0 of 9
right: passed True, pass rate 100%, skipped 0 of 9
test without retrieved texts: passed
500: grounded 1
1: grounded 1
1500: grounded 0
1,500: grounded 1'
echo "$seen"
[ "$seen" = "$expected" ]
