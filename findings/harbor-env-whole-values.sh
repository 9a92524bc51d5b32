#!/usr/bin/env bash
# In Harbor, a variable of the host is filled in only where it is the whole value, and its default ends at the last brace.
#
# Versions: harbor 0.26.0 (PyPI), Python 3.12.
# Behaviour: `env` of a task has `${NAME}` and `${NAME:-default}`, which look like those of a shell or of Docker Compose. A value with anything
# beside the variable, even a space, reaches the container as it is written, without a warning; the braces of a default need not match.
# Seen, with FOUND=found:
#   {'a': 'found', 'b': 'x ${FOUND}', 'c': '${FOUND} ', 'd': 'y}z', 'e': ''}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"${PYTHON:-python3.12}" -m venv python
python/bin/pip install --quiet --disable-pip-version-check harbor==0.26.0

seen=$(FOUND=found python/bin/python - <<'PY'
from harbor.utils.env import resolve_env_vars

print(resolve_env_vars({"a": "${FOUND}", "b": "x ${FOUND}", "c": "${FOUND} ", "d": "${UNSET_HERE:-y}z}", "e": "${UNSET_HERE:-}"}))
PY
)
echo "$seen"
# shellcheck disable=SC2016 # the variables are Harbor's
[ "$seen" = "{'a': 'found', 'b': 'x "'${FOUND}'"', 'c': '"'${FOUND} '"', 'd': 'y}z', 'e': ''}" ]
