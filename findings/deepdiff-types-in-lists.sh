#!/usr/bin/env bash
# DeepDiff reports 1 that became true in a dictionary, but not in a list, unless the order of lists is ignored.
#
# Versions: deepdiff 9.1.0 (PyPI).
# Behaviour: the values of a dictionary are compared with their types. The items of two lists are first aligned by equality, in which Python's
# 1, 1.0 and True are the same, and aligned items are not looked at again. With `ignore_order=True`, which compares less strictly elsewhere, items
# are found by a hash that knows their types, and the change is reported.
# Seen:
#   dictionary 1, list 0, list with ignore_order 1, list in a dictionary 0, 0 and 0.0 in a list 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check deepdiff==9.1.0

seen=$(python/bin/python - <<'PY'
from deepdiff import DeepDiff

for before, after, options in [
    ({"a": 1}, {"a": True}, {}),
    ([1], [True], {}),
    ([1], [True], {"ignore_order": True}),
    ({"a": [1]}, {"a": [True]}, {}),
    ([0], [0.0], {}),
]:
    print(len(DeepDiff(before, after, **options)), end=" ")
PY
)
echo "$seen"
[ "$seen" = '1 0 1 0 0 ' ]
