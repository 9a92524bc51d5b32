"""Runs the verifier of a Harbor task in its container, as a code-grader of evalsuite.

The image is named by `config.image`, or built from the directory `config.build` of the task (default: `environment`). The workspace of the
trial is mounted where the task has its working directory, `config.tests` at /tests, and the reward is read from /logs/verifier. As in Harbor
0.26.0, /tests/test.sh is executed, so its first line names its interpreter; a value of `config.env` that is `${NAME}` or `${NAME:-default}`
is that of a variable of this machine; and reward.json takes precedence over reward.txt. Needs `docker`. Without a reward that is a number,
the verifier has not graded: the grader is an error, which is no fail.
"""

import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

VARIABLE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}")


def output_of(*command):
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        raise ValueError(f"`{' '.join(command)}` failed (exit status {made.returncode}): {made.stderr.strip()[-1000:]}")
    return made.stdout.strip()


def filled_in(name, value):
    variable = VARIABLE.fullmatch(value)
    if not variable:
        return value
    found = os.environ.get(variable[1], variable[2])
    if found is None:
        raise ValueError(f"the verifier needs the environment variable `{variable[1]}` for `{name}`: set it")
    return found


def read_rewards(verifier, status):
    for name, read in ("reward.json", json.loads), ("reward.txt", lambda text: {"reward": float(text)}):
        file = verifier / name
        if not file.exists():
            continue
        text = file.read_text()
        try:
            rewards = read(text)
        except ValueError:
            raise ValueError(f"{name} holds {text.strip()[:200]!r}, not a reward (exit status of the verifier: {status})")
        if not isinstance(rewards, dict) or not rewards:
            raise ValueError(f"{name} holds {text.strip()[:200]!r}: it has to be an object with rewards")
        # `true` is 1, as in Harbor.
        if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in rewards.values()):
            raise ValueError(f"{name} holds {text.strip()[:200]!r}: rewards have to be numbers")
        return {key: value + 0 for key, value in rewards.items()}
    raise ValueError(f"the verifier wrote no reward (exit status {status})")


def verify(given):
    config = given["config"]
    variables = {name: filled_in(name, value) for name, value in config.get("env", {}).items()}
    suite = pathlib.Path(__file__).resolve().parent.parent
    build = suite / config["task"] / config.get("build", "environment")
    image = config.get("image") or output_of("docker", "build", "-q", str(build))
    made = pathlib.Path(tempfile.mkdtemp())
    try:
        return verified_in(image, made, variables, suite, given)
    finally:
        # Files of a container may belong to a user whose files this one cannot remove.
        shutil.rmtree(made, ignore_errors=True)


def verified_in(image, made, variables, suite, given):
    config, logs, tests, verifier = given["config"], made / "logs", made / "tests", made / "logs" / "verifier"
    # The user of the verifier may be any.
    made.chmod(0o711)
    for directory, mode in (logs, 0o755), (tests, 0o755), (verifier, 0o777), (logs / "agent", 0o777), (logs / "artifacts", 0o777):
        directory.mkdir()
        directory.chmod(mode)
    # Tests of the task and of the step are one directory. A file of the step replaces the other one with its permissions.
    for folder in config["tests"]:
        shutil.copytree(suite / folder, tests, dirs_exist_ok=True)
    tests.chmod(0o755)
    script = tests / "test.sh"
    if script.exists():
        script.chmod(script.stat().st_mode | 0o111)
    mounts = [(given["workspace_path"], config["workdir"]), (logs, "/logs")]
    mounts += [(tests, "/tests")] if config["tests"] else []
    options = [word for source, target in mounts for word in ("-v", f"{source}:{target}")]
    options += [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    for option, key in ("-u", "user"), ("--network", "network"):
        options += [option, config[key]] if key in config else []
    # The entry point of the image starts the container of a task, and not the commands in it.
    options += ["-w", config["workdir"], "--entrypoint", "bash", image]
    mode = "" if config["tests"] else "chmod +x /tests/test.sh; "
    command = ["docker", "run", "--rm", *options, "-c", f"{mode}(/tests/test.sh) > /logs/verifier/test-stdout.txt 2>&1"]
    # The verifier may fail and write a reward, which then counts.
    status = subprocess.run(command, stdout=sys.stderr).returncode
    output = verifier / "test-stdout.txt"
    if output.exists():
        print(output.read_text(errors="replace"), file=sys.stderr)
    return read_rewards(verifier, status)


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
