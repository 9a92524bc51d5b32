"""Runs the verifier of a Harbor task in its container, as a code-grader of evalsuite.

The image is built from `environment/` of the task, or named by `config.image`. The workspace of the trial is mounted where the task has its
working directory, `tests` at /tests, and the reward is read from /logs/verifier. `config.command` is run instead of /tests/test.sh, if it is
there. Needs `docker`.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

given = json.load(sys.stdin)
config = given["config"]
suite = pathlib.Path(__file__).resolve().parent.parent
task = suite / config["task"]


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


image = config.get("image") or run("docker", "build", "-q", str(task / "environment"))
with tempfile.TemporaryDirectory() as logs, tempfile.TemporaryDirectory() as tests:
    # Tests of the task and of the step are one directory.
    for folder in config["tests"]:
        run("cp", "-R", f"{suite / folder}/.", tests)
    verifier = pathlib.Path(logs) / "verifier"
    verifier.mkdir()
    mounts = [(given["workspace_path"], config["workdir"]), (tests, "/tests"), (logs, "/logs")]
    volumes = [word for source, target in mounts for word in ("-v", f"{source}:{target}")]
    variables = [word for name, value in config.get("env", {}).items() for word in ("-e", f"{name}={value}")]
    verifier_command = config.get("command", ["bash", "/tests/test.sh"])
    command = ["docker", "run", "--rm", "-w", config["workdir"], *volumes, *variables, image, *verifier_command]
    verified = subprocess.run(command, stdout=sys.stderr)
    named, single = verifier / "reward.json", verifier / "reward.txt"
    if named.exists():
        rewards = json.loads(named.read_text())
    elif single.exists():
        rewards = float(single.read_text())
    else:
        sys.exit(f"the verifier wrote no reward (exit status {verified.returncode})")

rewards = rewards if isinstance(rewards, dict) else {"reward": rewards}
if not rewards or not all(isinstance(value, (int, float)) and math.isfinite(value) for value in rewards.values()):
    sys.exit(f"rewards have to be numbers: {rewards}")
assertions = [{"text": f"{name}: {value}", "passed": value >= 1} for name, value in rewards.items()]
reward = rewards.get("reward", sum(rewards.values()) / len(rewards))
print(json.dumps({"score": min(1.0, max(0.0, reward)), "assertions": assertions, "details": {"rewards": rewards}}))
