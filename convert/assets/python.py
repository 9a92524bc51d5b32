"""Runs a Python assertion that was written for promptfoo, as a code-grader of evalsuite.

`config.code` is an expression, or lines with a `return`; `config.file` is a module relative to this suite with a function, `get_assert` by
default. Both get the answer and a context with `vars`, `test`, `prompt` and `config`, and return a boolean, a number, or a dictionary with
`pass` and `score`.
"""

import contextlib
import importlib.util
import json
import pathlib
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


def result():
    answer = given["answer"]
    if "code" in config:
        code = config["code"]
        body = textwrap.indent(textwrap.dedent(code), "    ") if "\n" in code else f"    return {code}"
        names = {"json": json}
        exec(f"def check(output, context):\n{body}\n", names)
        return names["check"](answer, context)
    path = suite / config["file"]
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location("assertion", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, config.get("function", "get_assert"))(answer, context)


def verdict(value):
    threshold = config.get("threshold")
    if isinstance(value, str) and value.lower() in ("true", "false"):
        value = value.lower() == "true"
    if isinstance(value, str):
        value = json.loads(value)
    if isinstance(value, bool):
        return value, float(value), None
    if isinstance(value, (int, float)):
        return (value > 0 if threshold is None else value >= threshold), float(value), None
    score = float(value.get("score", 1 if value.get("pass", value.get("pass_")) else 0))
    passed = bool(value.get("pass", value.get("pass_")))
    return passed and (threshold is None or score >= threshold), score, value.get("reason")


try:
    # What the code prints is not the result.
    with contextlib.redirect_stdout(sys.stderr):
        passed, score, reason = verdict(result())
    passed = passed != config.get("negated", False)
except Exception as error:
    passed, score, reason = False, 0.0, f"the assertion failed: {error}"
shown = min(1.0, max(0.0, score)) if config.get("score") == "graded" else float(passed)
text = config.get("file") or config["code"].strip().splitlines()[0]
assertion = {"text": text, "passed": passed}
if reason:
    assertion["evidence"] = str(reason)
print(json.dumps({"score": shown, "assertions": [assertion], "details": {"score": score, "pass": passed}}))
