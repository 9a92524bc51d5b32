"""Generates configurations of promptfoo, and compares the verdicts of their conversions with promptfoo's: `npm install promptfoo@0.121.20`, then

    python convert/tests/promptfoo_generated.py PROMPTFOO OUTPUT [NUMBER [SEED]]

with the program `promptfoo`, a directory for results and the number of configurations, 5,000 by default. Each configuration is a test with
assertions and an answer, 250 of them share a file. Every verdict that differs without the report saying so is printed, and the exit status is
then 1. No test of the gate runs this, as it needs a package from the network.
"""

import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys

promptfoo, output = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
number, seed = int((sys.argv[3:] or ["5000"])[0]), int((sys.argv[4:] or ["1"])[0])
crate = pathlib.Path(__file__).resolve().parent.parent
verdicts_program = crate.parent / "target" / "debug" / "examples" / "verdicts"
subprocess.run(["cargo", "build", "-q", "-p", "evalsuite-convert", "--example", "verdicts"], check=True, cwd=crate)
draw = random.Random(seed)
PER_FILE = 250

# YAML as it is written, without quotes around it.
SCALARS = [
    "2024-01-01", "2024-02-30", "2024-1-2 3:04:05", "2024-01-01T00:00:00Z", ".inf", "-.inf", "+.INF", ".nan", "1e400", "-1e400", "9" * 320,
    "9007199254740993", "9007199254740992", "-9007199254740993", "18446744073709551616", "123456789012345680000", "1e21", "1e-7", "0.000001",
    "0o17", "0x1F", "0b11", "1_000", "+12", "-0", "-0.0", "1.0", "1.50", "12.", ".5", "012", "1:30", "true", "True", "yes", "null", "~", "No",
    "[1, 2]", "[a, .inf, 2024-01-01]", "{a: 1}", "{a: .inf}", "{}", "[]", "abc", "'abc'", '"a,b"', "''", "'{{word}}'", "'{{none}}'", "'{{word | upper}}'",
]
WORDS = ["tea", "Tea", "coffee", "İ", "ß", "SS", "straße", "🎉", "a b", "a,b", '"a,b"', "\u00a0", "\ufeff", "\u0085", "x\ny", "", " ", "1", "1.5", "{", "}"]
NUMBERS = [0, 1, -1, 2, 0.1, 0.3, 19.99, 0.01, 1.5, 3, 10, 1e21, 1e-7, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 10**20]


def pick(*of):
    return draw.choice(of)


def some(of, least=0, most=3):
    return [draw.choice(of) for _ in range(draw.randint(least, most))]


def value(depth=2):
    kind = draw.random()
    if depth and kind < 0.2:
        return {draw.choice("abc"): value(depth - 1) for _ in range(draw.randint(0, 3))}
    if depth and kind < 0.35:
        return [value(depth - 1) for _ in range(draw.randint(0, 3))]
    return pick(draw.choice(NUMBERS), draw.choice(WORDS), None, True, False)


def schema(depth=2):
    """A schema with keywords that Ajv checks, ignores, refuses, or checks otherwise than other validators."""
    made = {}
    for _ in range(draw.randint(1, 3)):
        sub = lambda: schema(depth - 1) if depth else pick({}, {"type": "number"}, True, False)
        key, what = pick(
            ("type", pick("object", "array", "string", "number", "integer", "boolean", "null", ["string", "null"])),
            ("properties", {draw.choice("abc"): sub() for _ in range(draw.randint(1, 2))}),
            ("required", sorted(set(some("abc", 1)))),
            ("additionalProperties", pick(False, True, sub())),
            ("items", pick(sub(), [sub(), sub()])),
            ("additionalItems", pick(False, sub())),
            ("contains", sub()),
            ("enum", some([1, "tea", None, [1], {"a": 1}, 2**53 + 1], 1)),
            ("const", value(1)),
            ("minimum", draw.choice(NUMBERS)), ("maximum", draw.choice(NUMBERS)),
            ("exclusiveMinimum", draw.choice(NUMBERS)), ("exclusiveMaximum", draw.choice(NUMBERS)),
            ("multipleOf", pick(1, 2, 3, 0.01, 0.1, 0.5, 2.5)),
            ("minLength", draw.randint(0, 3)), ("maxLength", draw.randint(0, 3)),
            ("minItems", draw.randint(0, 2)), ("maxItems", draw.randint(0, 2)), ("uniqueItems", True),
            ("minProperties", draw.randint(0, 2)), ("maxProperties", draw.randint(0, 2)),
            ("propertyNames", sub()), ("dependencies", {"a": pick(["b"], sub())}),
            ("allOf", [sub()]), ("anyOf", [sub(), sub()]), ("oneOf", [sub(), sub()]), ("not", sub()),
            ("if", sub()), ("then", sub()), ("else", sub()),
            ("pattern", pick("^t", "\\d", "(?i)tea")), ("patternProperties", {"^a": sub()}),
            ("format", pick("date", "email", "uri", "date-time", "int32", "byte", "none")),
            ("contentEncoding", "base64"), ("contentMediaType", "application/json"), ("nullable", True),
            ("title", "T"), ("default", 1), ("examples", [1]), ("deprecated", True), ("readOnly", True), ("$comment", "c"),
            ("minContains", 1), ("prefixItems", [sub()]), ("dependentRequired", {"a": ["b"]}), ("unevaluatedProperties", False),
            ("x-note", 1), ("discriminator", {"propertyName": "a"}), ("definitions", {"d": sub()}), ("$defs", {"d": sub()}),
            ("$schema", pick("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema")),
        )
        made[key] = what
    return made


def fits(of, depth=3):
    """A value that a schema may allow."""
    if not isinstance(of, dict) or draw.random() < 0.15:
        return value()
    if "const" in of:
        return of["const"]
    if "enum" in of:
        return draw.choice(of["enum"])
    kind = of.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or kind is None and "properties" in of:
        made = {key: fits(sub, depth - 1) for key, sub in of.get("properties", {}).items()}
        return {**{key: value(0) for key in of.get("required", [])}, **made}
    if kind == "array" or kind is None and "items" in of:
        items = of.get("items")
        return [fits(items if isinstance(items, dict) else {}, depth - 1) for _ in range(draw.randint(0, 3))]
    bounds = [of[key] for key in ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum") if key in of]
    if kind in ("number", "integer") or bounds:
        near = draw.choice(bounds or NUMBERS)
        return pick(near, near * 2, near * 3, near + 1, near - 1, draw.choice(NUMBERS))
    return {"string": draw.choice(WORDS), "boolean": True}.get(kind, value())


def text_of(data):
    """JSON as answers have it."""
    text = json.dumps(data, ensure_ascii=pick(True, False))
    return pick(text, text, text, f" {text}\n", f"\u00a0{text}", f"\ufeff{text}", f"```json\n{text}\n```", f"See: {text}", text[:-1], text + "x")


def yaml_of(data):
    return json.dumps(data)


def texts_around(words):
    return "".join(draw.choice([*words, *WORDS]) for _ in range(draw.randint(0, 4)))


def assertion():
    """An assertion as YAML, and answers that may pass it."""
    negated = pick("", "", "not-")
    kind = pick("contains", "icontains", "starts-with", "equals", "scalar", "scalar", "list", "regex", "levenshtein", "is-json", "is-json", "schema",
                "schema", "schema", "object", "contains-json", "javascript", "cost", "latency", "transform", "settings")
    if kind in ("contains", "icontains", "starts-with", "equals"):
        word = "".join(some(WORDS, 0, 2))
        return [f"type: {negated}{kind}", f"value: {yaml_of(word)}"], [word, word.upper(), texts_around([word]), word + " x"]
    if kind == "scalar":
        scalar = draw.choice(SCALARS)
        on = pick("contains", "icontains", "starts-with", "equals", "equals", "regex", "levenshtein", "contains-any", "icontains-all", "is-json")
        spelled = ["{}", "null", "Infinity", "-Infinity", "NaN", "9007199254740992", "-9007199254740992", "1e+21", "1e-7", "0.000001", "15", "31", "1.5", "1", "0",
                   "[object Object]", '{"a":1}', "[1,2]", "true", "123456789012345680000", "18446744073709552000", "undefined", "UPPER", scalar.strip("'\"")]
        return [f"type: {negated}{on}", f"value: {scalar}"], [draw.choice(spelled), draw.choice(spelled), scalar, "x " + draw.choice(spelled)]
    if kind == "list":
        on = pick("contains-any", "contains-all", "icontains-any", "icontains-all")
        words = some(WORDS, 0, 3)
        written = pick(yaml_of(words), yaml_of(",".join(words)), yaml_of(pick('"a,b",tea', '"a', '"a" b', "a \"b, c\"", '""', "tea,,", '"a""b"', '"a\\"b"')),
                       f"[{draw.choice(SCALARS)}, {draw.choice(SCALARS)}]")
        return [f"type: {negated}{on}", f"value: {written}"], [texts_around(words), "tea a,b", 'a"b', "Infinity,1", "nulltrue"]
    if kind == "regex":
        pattern = "".join(some([".", "a", "tea", "\\d", "\\w+", "\\s", "\\b", "^", "$", "(tea)", "[^a]", "[a-z]+", "x?", "{2}", "|", "(?i)", "(?:a|b)", "\\S*", "\n",
                                "(?=t)", "(?<=a)", "🎉", "\\u0041", "\\/", "\\p{L}", "(?<n>a)", "\\1", "*", ")", "-", "&&", "#", " "], 1, 4))
        return [f"type: {negated}regex", f"value: {yaml_of(pattern)}"], [texts_around(["a", "A", "12"]), "tea\n", "TEA", "a\u2028b"]
    if kind == "levenshtein":
        word = draw.choice(WORDS)
        threshold = [f"threshold: {pick(0, 1, 2.5, 5, 100, -1)}"] if pick(0, 1) else []
        return [f"type: {negated}levenshtein", f"value: {yaml_of(word)}", *threshold], [word + "xx", texts_around([word])]
    if kind == "is-json":
        return [f"type: {negated}is-json"], [text_of(value()), text_of(value()), pick("1e400", '"\\ud800"', "[1,]", "NaN", "-0", "01", '{"a":1,"a":2}')]
    if kind == "schema":
        made = schema()
        written = pick(yaml_of(made), yaml_of(made), yaml_of(json.dumps(made)), pick("{}", "true", "'true'", "'false'", "''", "0", "5", "[]", "2024-01-01"))
        on = pick("is-json", "is-json", "is-json", "contains-json")
        return [f"type: {negated}{on}", f"value: {written}"], [text_of(fits(made)), text_of(fits(made)), text_of(fits(made)), text_of(value())]
    if kind == "object":
        wanted = pick({"a": value(1)}, [value(1)], {})
        return [f"type: {negated}equals", f"value: {yaml_of(wanted)}"], [text_of(wanted), text_of(wanted), text_of({"a": value(1)})]
    if kind == "contains-json":
        return [f"type: {negated}contains-json"], ["{a: 1}", text_of(value()), "{'a': 1, // x\n}", '{"a": ', "{"]
    if kind == "javascript":
        code = pick("output.length > 3", "output.length / 10", "output.length", "-1", "0", "NaN", "Infinity", "'x'", "null", "1 > 0;", "const n = output.length; n > 2",
                    "let x = ';'; x === ';'", "const n = 1; /* don't */ n; n > 0", "var a = 1", "({pass: true, score: 0.2, reason: 'x'})", "({pass: false, score: 2, reason: ''})",
                    "({pass: true, score: NaN, reason: 'x'})", "({pass: true, score: 1})", "Promise.resolve(true)", "context.vars.n !== undefined", "JSON.parse(output).a === 1", "throw 1",
                    "const n = output.length;\nreturn n > 2;", "output.length > 3\n", "output.includes('tea')", "context.vars.word === 'tea'")
        threshold = [f"threshold: {pick(0, 0.3, 0.5, 2, -1)}"] if pick(0, 1, 1) == 0 else []
        return [f"type: {negated}javascript", f"value: {yaml_of(code)}", *threshold], ["", "tea", "a tea and more", '{"a":1}']
    if kind in ("cost", "latency"):
        return [f"type: {negated}{kind}", f"threshold: {pick(0, 0.00005, 0.0001, 0.001, 600000) if kind == 'cost' else 600000}"], ["x"]
    if kind == "transform":
        code = pick("output.trim()", "output.toUpperCase()", "JSON.parse(output).a", "output.slice(0, 2)", "output.split(',')[0]", "output + 1")
        on = pick("contains", "equals", "is-json", "regex", "starts-with", "icontains")
        what = [] if on == "is-json" else [f"value: {yaml_of(pick('tea', 'TEA', '1', 'a'))}"]
        return [f"type: {negated}{on}", *what, f"transform: {yaml_of(code)}"], [" tea\n", "\ufefftea", '{"a": "tea"}', "TEA,x", "\u0085tea", "te"]
    key, what = pick(("threshold", pick("'0.5'", "null", "true")), ("weight", pick("'1'", "null")), ("metric", pick("5", "m", "'{{word}}'", "null")))
    # What promptfoo refuses stops its whole run, so that only a valid metric is compared.
    if key == "metric" and what not in ("5", "null"):
        return [f"type: {negated}contains", "value: tea", f"metric: {what}"], ["tea", "x"]
    return [f"type: {negated}contains", "value: tea", f"unknown: {what}"], ["tea", "x"]


def written(depth=0):
    lines, answers = assertion()
    weight = draw.random()
    if weight < 0.08:
        lines.append(f"weight: {pick(0, 2, 0.5, 3, 1)}")
    if not depth and draw.random() < 0.1:
        members = [written(1) for _ in range(draw.randint(0, 3))]
        threshold = [f"threshold: {pick(0, 0.3, 0.5, 1, 1.5, -1)}"] if pick(True, False) else []
        weight = [f"weight: {pick(0, 2)}"] if draw.random() < 0.2 else []
        inner = ", ".join(member for member, _ in members)
        lines = ["type: assert-set", f"assert: [{inner}]", *threshold, *weight]
        answers = [answer for _, found in members for answer in found] or answers
    return "{" + ", ".join(lines) + "}", answers


def test(index):
    made = [written() for _ in range(pick(1, 1, 1, 1, 2, 3))]
    answer = draw.choice([answer for _, answers in made for answer in answers])
    threshold = f"    threshold: {pick(0, 0.3, 0.5, 0.99, 1, 1.5, -1, '.inf', '-.inf', '.nan', chr(39) + '0.5' + chr(39))}\n" if draw.random() < 0.15 else ""
    asserts = "".join(f"      - {assertion}\n" for assertion, _ in made)
    return f"  - vars: {{n: n{index}, word: tea}}\n{threshold}    assert:\n{asserts}", answer


def called(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


PROVIDER = """const answers = JSON.parse(require('fs').readFileSync(`${__dirname}/answers.json`, 'utf8'));
module.exports = class {
  id() { return 'answer'; }
  async callApi(prompt, { vars }) { return { output: answers[vars.n], cost: 0.0001 }; }
};
"""


def compare(name, tests, first):
    folder = output / name
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "promptfooconfig.yaml"
    config.write_text("prompts: ['{{n}}']\nproviders: [file://answer.cjs]\ntests:\n" + "".join(test for test, _ in tests), encoding="utf-8")
    (folder / "answer.cjs").write_text(PROVIDER)
    (folder / "answers.json").write_text(json.dumps({re.search(r"n: (n\d+)", test)[1]: answer for test, answer in tests}))
    results = folder / "results.json"
    environment = {**os.environ, "PROMPTFOO_CONFIG_DIR": str(output / "promptfoo")}
    environment |= {f"PROMPTFOO_{key}": "1" for key in ("DISABLE_TELEMETRY", "DISABLE_UPDATE", "DISABLE_SHARING", "DISABLE_REMOTE_GENERATION", "SELF_HOSTED")}
    if not results.exists():
        flags = ["--no-cache", "--no-write", "--no-table", "--no-progress-bar", "--no-share"]
        ran = called(*isolated, promptfoo, "eval", "-c", config, "-o", results, *flags, env=environment, cwd=folder)
        if not results.exists():
            sys.exit(f"promptfoo does not run {config}: {ran.stderr[-2000:]}")
    compared = called(verdicts_program, config, results)
    if compared.returncode == 3 and name.count("-") < 20:
        # A suite with errors is told to the user; its other cases are compared without those.
        broken = {re.match(r"test-\d+", line.split("\t")[1])[0] for line in compared.stdout.splitlines() if line.startswith("!")}
        left = [test for index, test in enumerate(tests) if f"test-{index + 1}" not in broken]
        problems.update(line.split("\t")[2][:90] for line in compared.stdout.splitlines() if line.startswith("!"))
        count["no valid suite"] += len(broken)
        return compare(f"{name}-without", left, first)
    if compared.returncode != 0:
        sys.exit(f"{config} is not compared: {compared.stderr[-2000:]}")
    said, verdicts = collections.defaultdict(set), {}
    for case, *line in (line.split("\t") for line in compared.stdout.splitlines()):
        if case != "@":
            verdicts[case] = line
        elif line[1].startswith("tests["):
            said[int(line[1][6:].split("]")[0])].add(line[0])
    for index, (written_test, answer) in enumerate(tests):
        ours, theirs, *text = verdicts.get(f"test-{index + 1}", ["none", "none"])
        is_said = bool(said[index] & {"different", "dropped"})
        count[f"{'reported' if is_said else 'same'}, {'equal' if ours == theirs else 'other'}"] += 1
        if ours != theirs and not is_said:
            faults.append(f"{name}, {ours} here, {theirs} there\n{written_test}    answer: {json.dumps(answer)}\n    {' '.join(text)[:300]}")


isolated = ["unshare", "-n"] if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL).returncode == 0 else []
count, faults, problems = collections.Counter(), [], collections.Counter()
for first in range(0, number, PER_FILE):
    tests = [test(index) for index in range(first, min(first + PER_FILE, number))]
    compare(f"{seed}-{first}", tests, first)
for fault in faults:
    print(fault)
for name, times in [*problems.most_common(), *sorted(count.items())]:
    print(f"{times:6} {name}")
sys.exit(bool(faults))
