"""Compares converted Harbor tasks with what Harbor's own models read: `pip install harbor`, then

    python convert/tests/harbor_models.py TASKS

with a directory of tasks. Checked with harbor 0.24.0. No test runs this, as it needs a package from the network.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import yaml
from harbor.models.task.task import Task

root = pathlib.Path(sys.argv[1])
command = ["cargo", "run", "-q", "-p", "cargo-evalsuite", "--", "evalsuite", "convert"]
differences = 0
for directory in sorted(path.parent for path in root.glob("*/task.toml")):
    theirs = Task(directory)
    config = theirs.config
    with tempfile.TemporaryDirectory() as output:
        called = subprocess.run([*command, str(directory), output, "--lossy", "--format", "json"], stdout=subprocess.PIPE, text=True)
        report = json.loads(called.stdout)
        listed = subprocess.run(["cargo", "run", "-q", "-p", "cargo-evalsuite", "--", "evalsuite", "list", output], stdout=subprocess.PIPE, text=True)
        case = yaml.safe_load((pathlib.Path(output) / "EVAL.yaml").read_text())["tests"][0]
    steps = config.steps or []
    graders = [turn["assertions"][0] for turn in case["turns"]] if steps else case["assertions"]
    inputs = [turn["input"] for turn in case["turns"]] if steps else [case["input"]]
    limits = [step.agent.timeout_sec for step in steps if step.agent.timeout_sec] or [config.agent.timeout_sec]
    pairs = [
        ("problems", report["problems"], []),
        ("listed", listed.returncode, 0),
        ("agent.timeout_sec", case.get("execution", {}).get("timeout_seconds"), max(limits) if limits[0] else None),
        ("instructions", [text.strip() for text in inputs], [theirs.step_instruction(step.name).strip() for step in steps] if steps else [theirs.instruction.strip()]),
        ("verifier.timeout_sec", [grader["timeout_seconds"] for grader in graders], [step.verifier.timeout_sec for step in steps] or [config.verifier.timeout_sec]),
        ("verifier.env", [grader["config"].get("env", {}) for grader in graders], [step.verifier.env for step in steps] or [config.verifier.env]),
        ("docker_image", graders[0]["config"].get("image"), config.environment.docker_image),
        ("task.name", case.get("metadata", {}).get("task", {}).get("name"), config.task and config.task.name),
        ("metadata", {key: value for key, value in case.get("metadata", {}).items() if key != "task"}, config.metadata),
    ]
    for name, ours, expected in pairs:
        if ours != expected:
            differences += 1
            print(f"{directory.name}: {name} is {ours!r}, Harbor reads {expected!r}")
    print(f"{directory.name}: compared")
sys.exit(1 if differences else 0)
