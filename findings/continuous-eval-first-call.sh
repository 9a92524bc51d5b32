#!/usr/bin/env bash
# In continuous-eval, an agent that leaves out the first call has no call right, and one that leaves out the last has nearly all.
#
# Versions: continuous-eval 0.3.14.post2 (PyPI), and what its metric of tools imports.
# Behaviour: The score of `ToolSelectionAccuracy` is the share of the expected calls that were made. With `order_sensitive`, the expected calls are awaited
# one by one, and none is skipped. So a missing call makes all calls after it wrong, whatever their order. The same fault is 0 at the begin and 0.67 at the
# end. If the order does not matter, and `ignore_kwargs` has only names compared, expected calls of one name count as one, but are divided by all. So an agent
# that made each of three searches as expected has a third, and has all if the order does matter.
# Seen (expected are the calls search, open and pay; then three searches):
#   in order: without search 0.00, without open 0.33, without pay 0.67; any order: without search 0.67; three searches by name: any order 0.33, in order 1.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-deps continuous-eval==0.3.14.post2
python/bin/pip install --quiet --disable-pip-version-check python-dotenv==1.2.4 pydantic==2.14.4 tqdm==4.70.1 appdirs==1.4.4 posthog==3.25.0 Jinja2==3.1.6 \
  json_repair==0.31.0 PyYAML==6.0.4 2>pip.log

cat >calls.py <<'PY'
from continuous_eval.metrics.tools.match import ToolSelectionAccuracy


def score(made, expected, **options):
    return f"{ToolSelectionAccuracy(**options).compute(tools=made, ground_truths=expected)['score']:.2f}"


steps = [{"name": name, "kwargs": {"topic": "lamp"}} for name in ("search", "open", "pay")]
for missing in steps:
    print("in order, without", missing["name"], score([step for step in steps if step is not missing], steps, order_sensitive=True), end="; ")
print("any order, without search", score(steps[1:], steps), end="; ")
searches = [{"name": "search", "kwargs": {"topic": topic}} for topic in ("lamp", "desk", "chair")]
for name, options in [("any order", {}), ("in order", {"order_sensitive": True})]:
    print(f"three searches by name, {name}", score(searches, searches, ignore_kwargs=True, **options), end="; ")
PY
seen=$(CONTINUOUS_EVAL_DO_NOT_TRACK=true python/bin/python -W ignore calls.py)
echo "$seen"
[ "$seen" = 'in order, without search 0.00; in order, without open 0.33; in order, without pay 0.67; any order, without search 0.67; three searches by name, any order 0.33; three searches by name, in order 1.00; ' ]
