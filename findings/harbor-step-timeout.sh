#!/usr/bin/env bash
# In Harbor, a verifier of a step never has the time limit of its task.
#
# Versions: harbor 0.26.0 (PyPI), Python 3.12.
# Behaviour: a step without `timeout_sec` of its verifier is meant to have that of the task: the trial looks for it if the step has none. But the
# model of a step fills in its own default, so that it is never missing: a task with a limit of 5 seconds, or of an hour, has steps of 600.
# Seen:
#   task 5.0, step 600.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"${PYTHON:-python3.12}" -m venv python
python/bin/pip install --quiet --disable-pip-version-check harbor==0.26.0

seen=$(python/bin/python - <<'PY'
from harbor.models.task.config import TaskConfig

config = TaskConfig.model_validate_toml('[verifier]\ntimeout_sec = 5\n[[steps]]\nname = "one"\n')
print(f"task {config.verifier.timeout_sec}, step {config.steps[0].verifier.timeout_sec}")
PY
)
echo "$seen"
[ "$seen" = 'task 5.0, step 600.0' ]
