"""Runs the verifier of a Harbor task in its container, as a code-grader of evalsuite.

The image is built from `environment/` of the task, or named by `config.image`. The workspace of the trial is mounted where the task has its
working directory, `tests` at /tests, and the reward is read from /logs/verifier. `config.command` is run instead of /tests/test.sh, if it is
there. Needs `docker`. Without a reward that is a number, the verifier has not graded: the grader is an error, which is no fail.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile



def output_of(*command):
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        raise ValueError(f"`{' '.join(command)}` failed (exit status {made.returncode}): {made.stderr.strip()[-1000:]}")
    return made.stdout.strip()


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def read_rewards(verifier, status):
    for name, read in ("reward.json", json.loads), ("reward.txt", float):
        file = verifier / name
        if not file.exists():
            continue
        text = file.read_text()
        try:
            rewards = read(text)
        except ValueError:
            raise ValueError(f"{name} holds {text.strip()[:200]!r}, not a reward (exit status of the verifier: {status})")
        rewards = rewards if isinstance(rewards, dict) else {"reward": rewards}
        if not rewards or not all(is_number(value) for value in rewards.values()):
            raise ValueError(f"{name} holds {text.strip()[:200]!r}: rewards have to be numbers")
        return rewards
    raise ValueError(f"the verifier wrote no reward (exit status {status})")


def verify(given):
    config = given["config"]
    suite = pathlib.Path(__file__).resolve().parent.parent
    task = suite / config["task"]
    image = config.get("image") or output_of("docker", "build", "-q", str(task / "environment"))
    with tempfile.TemporaryDirectory() as logs, tempfile.TemporaryDirectory() as tests:
        # Tests of the task and of the step are one directory.
        for folder in config["tests"]:
            output_of("cp", "-R", f"{suite / folder}/.", tests)
        verifier = pathlib.Path(logs) / "verifier"
        verifier.mkdir()
        mounts = [(given["workspace_path"], config["workdir"]), (tests, "/tests"), (logs, "/logs")]
        volumes = [word for source, target in mounts for word in ("-v", f"{source}:{target}")]
        variables = [word for name, value in config.get("env", {}).items() for word in ("-e", f"{name}={value}")]
        verifier_command = config.get("command", ["bash", "/tests/test.sh"])
        command = ["docker", "run", "--rm", "-w", config["workdir"], *volumes, *variables, image, *verifier_command]
        # The verifier may fail and write a reward, which then counts.
        verified = subprocess.run(command, stdout=sys.stderr)
        return read_rewards(verifier, verified.returncode)


def result():
    rewards = verify(json.load(sys.stdin))
    reward = rewards.get("reward", sum(rewards.values()) / len(rewards))
    if not 0 <= reward <= 1:
        raise ValueError(f"the reward is {reward}, not a number from 0 to 1: {rewards}")
    assertions = [{"text": f"{name}: {value}", "passed": value >= 1} for name, value in rewards.items()]
    return {"score": reward, "assertions": assertions, "details": {"rewards": rewards}}


try:
    graded = result()
except Exception as error:
    graded = {"error": f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else str(error)}
print(json.dumps(graded))
