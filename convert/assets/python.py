"""Runs a Python assertion that was written for promptfoo, as a code-grader of evalsuite.

`config.code` is an expression, or lines with a `return`; `config.file` is a module relative to this suite with a function, `get_assert` by
default. Both get the answer and a context with `vars`, `test`, `prompt` and `config`, and return a boolean, a number, or a dictionary with
`pass`, `score` and `reason`. Before, `node` runs the JavaScript of `config.transform` with the answer.
"""

import contextlib
import importlib.util
import json
import math
import pathlib
import re
import subprocess
import sys
import textwrap

given = json.load(sys.stdin)
config = given["config"]
suite = pathlib.Path(__file__).resolve().parent.parent
metadata = given.get("metadata") or {}
variables = metadata.get("vars") or {}
messages = [message.get("content") for message in given.get("input") or []]
context = {
    "vars": variables,
    "prompt": "\n".join(text for text in messages if isinstance(text, str)),
    "config": config.get("config"),
    "test": {"vars": variables, "metadata": metadata, "description": metadata.get("description")},
}


def transformed():
    if "transform" not in config:
        return given["answer"]
    program = pathlib.Path(__file__).with_name("javascript.mjs")
    asked = json.dumps({**given, "config": {"transform": config["transform"]}})
    made = subprocess.run(["node", program], input=asked, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return json.loads(made.stdout)


def result():
    answer = transformed()
    if "code" in config:
        code = config["code"]
        body = textwrap.indent(code, "    ") if "\n" in code else f"    return {code}"
        names = {"json": json}
        exec(f"def check(output, context):\n{body}\n", names)
        return names["check"](answer, context)
    path = suite / config["file"]
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location("assertion", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, config.get("function", "get_assert"))(answer, context)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def verdict(value):
    threshold, negated = config.get("threshold"), config.get("negated", False)
    if isinstance(value, str):
        number = re.match(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", value, re.IGNORECASE)
        if value.lower() in ("true", "false"):
            value = value.lower() == "true"
        elif value.startswith("{"):
            value = json.loads(value)
        elif number:
            value = float(number[0])
    if isinstance(value, bool):
        return value != negated, float(value != negated), None
    if is_number(value):
        return (value > 0 if threshold is None else value >= threshold) != negated, float(value), None
    passed = value.get("pass", value.get("pass_")) if isinstance(value, dict) else None
    if not (isinstance(passed, bool) and is_number(value.get("score")) and isinstance(value.get("reason"), str)):
        raise ValueError(f"it returned {value!r}: a boolean, a number, or a dictionary with pass, score and reason is needed")
    passed = passed and (threshold is None or value["score"] >= threshold)
    return passed != negated, float(value["score"]), value["reason"]


try:
    # What the code prints is not the result.
    with contextlib.redirect_stdout(sys.stderr):
        passed, score, reason = verdict(result())
except Exception as error:
    passed, score, reason = False, 0.0, f"the assertion failed: {error}"
shown = min(1.0, max(0.0, score)) if config.get("score") == "graded" else float(passed)
text = config.get("file") or config["code"].strip().splitlines()[0]
assertion = {"text": text, "passed": passed}
if reason:
    assertion["evidence"] = str(reason)
print(json.dumps({"score": shown, "assertions": [assertion], "details": {"score": score, "pass": passed}}))
