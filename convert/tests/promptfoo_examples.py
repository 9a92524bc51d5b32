"""Converts configurations of promptfoo, and compares the verdicts of the suites with promptfoo's: `npm install promptfoo`, then

    python convert/tests/promptfoo_examples.py EXAMPLES PROMPTFOO OUTPUT

with a directory of configurations, the program `promptfoo`, and a directory for results, which a second call reads instead of asking promptfoo
again. Providers are replaced by `promptfoo/answer.cjs`. promptfoo runs the programs that the configurations name, without a network where
`unshare` can take it away. README.md has the figures. No test runs this, as it needs a package from the network.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

examples, promptfoo, output = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
crate = pathlib.Path(__file__).resolve().parent.parent
target = crate.parent / "target" / "debug"
subprocess.run(["cargo", "build", "-q", "-p", "cargo-evalsuite"], check=True, cwd=crate)
subprocess.run(["cargo", "build", "-q", "-p", "evalsuite-convert", "--example", "verdicts"], check=True, cwd=crate)
isolated = ["unshare", "-n"] if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL).returncode == 0 else []
quiet = {f"PROMPTFOO_{name}": "1" for name in ("DISABLE_TELEMETRY", "DISABLE_UPDATE", "DISABLE_SHARING", "DISABLE_REMOTE_GENERATION", "SELF_HOSTED")}
count = collections.Counter()
others = []


def called(*command, seconds, **options):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=seconds, **options)
    except subprocess.TimeoutExpired:
        return None


def verdicts(name, config, answers):
    """Where the verdicts of promptfoo are; nothing if it has none."""
    results = output / f"{answers}-{name}.json"
    if not results.exists():
        command = [*isolated, promptfoo, "eval", "-c", config, "-r", f"file://{crate}/tests/promptfoo/answer.cjs", "-o", results]
        own = {"ANSWER": answers, "PROMPTFOO_CONFIG_DIR": str(output / "promptfoo")}
        flags = ["--no-cache", "--no-write", "--no-table", "--no-progress-bar", "--no-share"]
        called(*command, *flags, seconds=60, env={**os.environ, **quiet, **own}, cwd=config.parent)
    return results if results.exists() else None


configs = sorted(path for path in examples.rglob("promptfooconfig*") if path.suffix in (".yaml", ".yml", ".json"))
output.mkdir(parents=True, exist_ok=True)
for config in configs:
    name = str(config.relative_to(examples).with_suffix("")).replace(os.sep, "__")
    suite = output / name
    options = ["--lossy", "--force", "--format", "json", "--from", "promptfoo"]
    conversion = called(target / "cargo-evalsuite", "evalsuite", "convert", config, suite, *options, seconds=60, cwd=output)
    count["configurations"] += 1
    if conversion.returncode == 2:
        count["without cases" if "has no case" in conversion.stderr else "not read"] += 1
        print(f"{config.relative_to(examples)}: {conversion.stderr.strip().splitlines()[0]}")
        continue
    report = json.loads(conversion.stdout)
    for outcome in ("mapped", "approximated", "different", "dropped"):
        count[f"entries {outcome}"] += report[outcome]
    is_same = report["different"] == report["dropped"] == 0
    count["nothing different or dropped"] += is_same
    if report["problems"]:
        count["no valid suite"] += 1
        print(f"{config.relative_to(examples)}: {report['problems'][0].splitlines()[0]}")
        continue
    count["valid suites"] += 1
    for answers in ("values", "padded", "echo"):
        results = verdicts(name, config, answers)
        if not results:
            count[f"promptfoo does not run ({answers})"] += 1
            continue
        compared = called(target / "examples" / "verdicts", suite, results, seconds=300)
        if compared is None or compared.returncode != 0:
            count[f"not compared ({answers})"] += 1
            print(f"{config.relative_to(examples)}: {compared.stderr.strip()[:300] if compared else 'too slow'}")
            continue
        for line in compared.stdout.splitlines():
            case, ours, theirs, *text = line.split("\t")
            if theirs == "none":
                count["cases without a result of promptfoo"] += 1
            elif ours == "?":
                count["judged or skipped"] += 1
            else:
                count["compared"] += 1
                count["compared where nothing is different or dropped"] += is_same
                if ours != theirs:
                    count["other verdicts"] += 1
                    count["other verdicts where nothing is different or dropped"] += is_same
                    others.append((config.relative_to(examples), case, answers, f"{ours} here, {theirs} there", *text))
for name, number in count.items():
    print(f"{number:6} {name}")
for other in others:
    print(*other, sep=": ")
