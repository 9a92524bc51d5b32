"""Compares converted Harbor tasks with what Harbor's own `Task` and `Verifier` do, without containers: `pip install harbor==0.26.0`, then

    cargo build -p cargo-evalsuite --features convert
    python convert/tests/harbor_verifier.py TASKS...

with directories of tasks. Both run each verifier with a stand-in for the container, which writes the same outputs. Compared are the files that
the verifier gets, its command, variables, user, network, working directory and time limit, and the reward, for each of the outputs. No test
runs this, as it needs packages from the network. EVERY=1 in the environment tries all outputs with every task, not three of them.
"""

import asyncio
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

import yaml
from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities
from harbor.models.task.config import NetworkMode, NetworkPolicy
from harbor.models.task.task import Task
from harbor.models.task.verifier_mode import resolve_verifier_environment_definition
from harbor.models.trial.paths import TrialPaths
from harbor.verifier.verifier import Verifier

warnings.simplefilter("ignore")
PROGRAM = pathlib.Path(os.environ.get("EVALSUITE", "target/debug/cargo-evalsuite")).resolve()
# Files that a verifier writes.
OUTPUTS = [
    {"reward.txt": "1"},
    {"reward.txt": "0"},
    {"reward.txt": " 0.5\n"},
    {"reward.json": '{"reward": 1}'},
    {"reward.json": '{"reward": 0}', "reward.txt": "1"},
    {"reward.json": '{"a": 1, "b": 0}'},
    {"reward.json": '{"reward": true}'},
    {"reward.json": "1"},
    {"reward.json": '["1"]'},
    {"reward.json": '{"reward": "1"}'},
    {"reward.json": '{"reward": NaN}'},
    {"reward.json": "", "reward.txt": "1"},
    {"reward.txt": ""},
    {"reward.txt": "yes"},
    {"reward.txt": "inf"},
    {},
]
DOCKER = """#!{python}
import hashlib, json, os, pathlib, sys
words = sys.argv[1:]
if words[0] == "build":
    print("built:" + words[-1])
    sys.exit()
volumes = dict(reversed(words[at + 1].rsplit(":", 1)) for at, word in enumerate(words) if word == "-v")
tests = pathlib.Path(volumes.get("/tests", "/nonexistent"))
files = {{str(file.relative_to(tests)): [hashlib.sha256(file.read_bytes()).hexdigest(), os.access(file, os.X_OK)] for file in tests.rglob("*") if file.is_file()}}
value = lambda option: next((words[at + 1] for at, word in enumerate(words) if word == option), None)
seen = {{"files": files, "command": words[-1], "user": value("-u"), "network": value("--network"), "workdir": value("-w"),
         "entrypoint": value("--entrypoint"), "env": dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "-e")}}
pathlib.Path(os.environ["SEEN"]).write_text(json.dumps(seen))
for name, text in json.loads(os.environ["OUTPUT"]).items():
    pathlib.Path(volumes["/logs"], "verifier", name).write_text(text)
"""


class Stand(BaseEnvironment):
    """An environment that notes what it is told, and runs nothing."""

    chmod = ""

    @staticmethod
    def type():
        return "docker"

    @property
    def capabilities(self):
        return EnvironmentCapabilities(mounted=True)

    def _validate_definition(self):
        pass

    def _validate_gpu_support(self):
        pass

    def _validate_tpu_support(self):
        pass

    @property
    def _uses_compose(self):
        return (self.environment_dir / "docker-compose.yaml").exists()

    def is_path_mounted(self, *_):
        return True

    async def start(self, force_build):
        pass

    async def stop(self, delete):
        pass

    async def prepare_logs_for_host(self):
        pass

    async def upload_file(self, source_path, target_path):
        raise AssertionError("no single file is uploaded")

    async def download_file(self, source_path, target_path):
        raise AssertionError("nothing is downloaded")

    async def download_dir(self, source_dir, target_dir):
        raise AssertionError("nothing is downloaded")

    async def upload_dir(self, source_dir, target_dir):
        assert target_dir == "/tests", target_dir
        source = pathlib.Path(source_dir)
        for file in source.rglob("*"):
            if file.is_file():
                digest = hashlib.sha256(file.read_bytes()).hexdigest()
                self.seen["files"][str(file.relative_to(source))] = [digest, os.access(file, os.X_OK)]

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        if command.startswith("chmod +x "):
            name = command.removeprefix("chmod +x /tests/")
            if name in self.seen["files"]:
                self.seen["files"][name][1] = True
            else:
                # The script is part of the image; here, the same command does both.
                self.chmod = f"{command}; "
        elif not command.startswith("rm -f -- "):
            user = self._resolve_user(user)
            self.seen.update(command=self.chmod + command, env=self._merge_env(env) or {}, user=None if user is None else str(user))
            self.seen["workdir"] = cwd or self.task_env_config.workdir
            for name, text in self.output.items():
                (self.trial_paths.verifier_dir / name).write_text(text)
        return ExecResult(stdout="", stderr="", return_code=0)


def of_harbor(task, step, output, directory):
    definition = resolve_verifier_environment_definition(task.config, task.paths, step)
    config = definition.config if definition else task.config.environment
    phase = (step and step.verifier.explicit_phase_policy()) or task.config.verifier.explicit_phase_policy() or config.resolve_baseline()
    paths = TrialPaths(pathlib.Path(directory))
    paths.mkdir()
    environment = Stand(
        environment_dir=definition.directory if definition else task.paths.environment_dir,
        environment_name="x",
        session_id="x",
        trial_paths=paths,
        task_env_config=config,
        network_policy=NetworkPolicy(),
    )
    environment.seen, environment.output = {"files": {}, "network": "none" if phase.network_mode == NetworkMode.NO_NETWORK else None}, output
    user = task.config.verifier.user if step is None or step.verifier.user is None else step.verifier.user
    verifier = Verifier(
        task,
        paths,
        environment,
        verifier_env=step.verifier.env if step else None,
        step_name=step.name if step else None,
        skip_tests_upload=bool(definition and definition.bundled_tests),
    )
    with environment.with_default_user(user):
        try:
            rewards = asyncio.run(verifier.verify()).rewards
        except Exception as error:
            return environment.seen, type(error).__name__
    return environment.seen, rewards.get("reward", sum(rewards.values()) / len(rewards)) if rewards else "no reward"


def of_evalsuite(grader, suite, output, directory):
    seen = pathlib.Path(directory) / "seen.json"
    environment = {**os.environ, "SEEN": str(seen), "OUTPUT": json.dumps(output), "PATH": f"{directory}:{os.environ['PATH']}"}
    given = json.dumps({"workspace_path": directory, "config": grader["config"]})
    called = subprocess.run([sys.executable, "graders/harbor.py"], cwd=suite, env=environment, input=given, capture_output=True, text=True)
    result = json.loads(called.stdout)
    return json.loads(seen.read_text()) if seen.exists() else {}, result.get("score", result.get("error"))


def compare(directory, outputs, count):
    """The differences between both."""
    with tempfile.TemporaryDirectory() as made:
        command = [PROGRAM, "evalsuite", "convert", directory, f"{made}/suite", "--lossy", "--format", "json"]
        converted = subprocess.run(command, capture_output=True, text=True)
        try:
            theirs = Task(directory)
        except Exception as error:
            count["refused by Harbor"] += 1
            said = "refuses" in converted.stdout or converted.returncode != 0
            return [] if said else [f"Harbor refuses the task ({str(error).splitlines()[0]}), the conversion says nothing"]
        if converted.returncode:
            count["not converted"] += 1
            return [f"not converted: {converted.stdout[-300:]}{converted.stderr[-300:]}"]
        count["tasks"] += 1
        suite = pathlib.Path(made) / "suite"
        case = yaml.safe_load((suite / "EVAL.yaml").read_text())["tests"][0]
        steps = theirs.config.steps or [None]
        graders = [turn["assertions"][0] for turn in case["turns"]] if theirs.has_steps else case["assertions"]
        inputs = [turn["input"] for turn in case["turns"]] if theirs.has_steps else [case["input"]]
        differences = []
        docker = pathlib.Path(made) / "docker"
        docker.write_text(DOCKER.format(python=sys.executable))
        docker.chmod(0o755)
        for step, grader, asked in zip(steps, graders, inputs, strict=True):
            instruction = theirs.step_instruction(step.name) if step else theirs.instruction
            limit = step.verifier.timeout_sec if step else theirs.config.verifier.timeout_sec
            for name, ours, expected in ("instruction", asked, instruction), ("timeout_sec", grader["timeout_seconds"], limit):
                if ours != expected:
                    differences.append(f"{name} is {ours!r:.200}, Harbor's is {expected!r:.200}")
            for output in outputs:
                expected, reward = of_harbor(theirs, step, output, f"{made}/trial")
                shutil.rmtree(f"{made}/trial")
                seen, score = of_evalsuite(grader, suite, output, made)
                count["outputs"] += 1
                if not seen and isinstance(reward, str) and isinstance(score, str):
                    # A variable is missing: Harbor copies the tests before it looks for it.
                    continue
                for key in ["files", "command", "env", "user", "network", "workdir"]:
                    # Without a working directory of its own, that of the image is Harbor's.
                    if key in expected and seen.get(key) != expected[key] and not (key == "workdir" and expected[key] is None):
                        differences.append(f"{key} is {seen.get(key)!r:.300}, Harbor's is {expected[key]!r:.300}")
                if isinstance(reward, str) != isinstance(score, str) or not isinstance(reward, str) and reward != score:
                    differences.append(f"with {output}, the score is {score!r}, Harbor's reward is {reward!r}")
                (pathlib.Path(made) / "seen.json").unlink(missing_ok=True)
        return sorted(set(differences))


def main(roots):
    count = {"tasks": 0, "outputs": 0, "refused by Harbor": 0, "not converted": 0}
    different = 0
    directories = sorted(path.parent for root in roots for path in pathlib.Path(root).rglob("task.toml"))
    for at, directory in enumerate(directories):
        chosen = OUTPUTS if os.environ.get("EVERY") else [OUTPUTS[(3 * at + more) % len(OUTPUTS)] for more in range(3)]
        differences = compare(directory, chosen, count)
        different += bool(differences)
        for difference in differences:
            print(f"{directory}: {difference}")
    print(", ".join(f"{number} {name}" for name, number in count.items()) + f"; {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
