"""Generates skills, and compares what `cargo evalsuite check` and the reference reader of Agent Skills say about their front matter:
`pip install skills-ref==0.1.1`, then

    python loader/tests/tools/skill_front_matter.py CARGO_EVALSUITE DIRECTORY [NUMBER [SEED]]

with the program `cargo-evalsuite`, a directory for the skills and the number of skills, 2,000 by default. A skill that the reference reader
refuses has to have a problem, an error or a warning; one that it accepts must not have any. Every difference is printed with the skill, but for
those that docs/compatibility.md lists, which are counted; the exit status is 1 if there is another one. No test of the gate runs this, as it
needs a package from the network.
"""

import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import unicodedata

from skills_ref.errors import ParseError
from skills_ref.validator import validate

program, root = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
number, seed = int((sys.argv[3:] or ["2000"])[0]), int((sys.argv[4:] or ["1"])[0])
draw = random.Random(seed)
EVALS = '{"evals": [{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}]}'

NAMES = ["pdf-forms", "a", "a1", "1", "123", "1.10", "-a", "a-", "a--b", "A", "Pdf", "a_b", "a b", "a.b", "ﬁ", "über", "中文", "ß", "ẞ", "é", "e\u0301", "İ",
         "x" * 64, "x" * 65, "١٢", "²", "ⓐ", "🄰", "true", "null", "~", "yes", "''", '""', "'a'", '"a"', '"a\\u0062"', "a # b", "[a]", "{a: 1}", "|\n  a", ">\n  a", "*a",
         "&a a", "!!str a", "a: b", "- a", "'a--b'", "a\u00a0", "\u200ba", "2024-01-01", "0x1F", "1_000", "ǆ", "ǅ", "ª", "ʰ", "ा", "①", "Ⅷ", "ⅷ"]
TEXTS = ["Fills forms.", "x" * 1024, "x" * 1025, "''", "\"\"", "' '", "|\n  Two\n  lines", ">\n  Two\n  lines", "a --- b", "\"a --- b\"", "Use: it", "'Use: it'", "[a, b]",
         "{a: b}", "*x", "&x y", "!x y", "- a", "\n  - a\n  - b", "\n  a: b", "1", "true", "null", "~", "", "# comment", "a # comment", "@a", "`a`", "%a", "a\tb", "\"a\\tb\"",
         "'it''s'", "\"x\\ny\"", "Zeile\n  zwei", "é" * 1024, "🎉" * 1024, "2024-01-01", "1.10", "yes", "a\u0085b", "a\u2028b", "\ufeffa", "?", "? a", "<<", "a, b", "'unclosed", '"unclosed']
KEYS = ["name", "description", "license", "compatibility", "metadata", "allowed-tools", "version", "model", "author", "Name", "x-own", "allowed_tools", "hooks", "<<", "'license'"]
OTHER = {
    "metadata": ["\n  author: a", "\n  a: 1\n  b: true", "\n  a:\n    b: c", "\n  a:\n    - b", "{a: b}", "text", "[]", "", "\n  a: b\n  a: c", "{}", "\n  - a"],
    "compatibility": ["Python 3", "x" * 500, "x" * 501, "''", "\n  - a", "\n  a: b", "1", "", "' '"],
    "allowed-tools": ["Bash Read", "Bash(git:*) Read", "\n  - Bash\n  - Read", "[Bash]", "1", "", "\n  a: b"],
}


def has_early_end(text):
    """Whether there is a `---` before the line that ends the front matter, or none of them is such a line."""
    lines = text.split("\n")[1:]
    end = next((index for index, line in enumerate(lines) if line.rstrip() == "---"), len(lines))
    return end == len(lines) or any("---" in line for line in lines[:end])


# Differences that docs/compatibility.md lists: what the reader says, or what the skill has.
LISTED = {
    "as specified: a value that is not text": lambda text, said, codes: not said and codes == {"E020"},
    "as specified: an empty text in a list": lambda text, said, codes: not said and codes == {"E022"},
    "the front matter ends at a line `---`": lambda text, said, codes: not said and has_early_end(text) and codes & {"W037", "E007"},
    "a byte order mark in a value": lambda text, said, codes: not said and "\ufeff" in text[1:] and codes == {"E003"},
    "merge keys": lambda text, said, codes: not said and "<<" in text and codes <= {"W037", "E019"},
}


def chosen(of):
    return draw.choice(of)


def front_matter():
    keys = ["name", "description"]
    if draw.random() < 0.1:
        keys.remove(chosen(keys))
    keys += draw.sample(KEYS[2:], draw.choice([0, 0, 1, 1, 2, 3]))
    if draw.random() < 0.04:
        keys.append(chosen(keys or KEYS))
    if draw.random() < 0.3:
        draw.shuffle(keys)
    odd = draw.random()
    lines, name = [], "pdf-forms"
    for key in keys:
        value = {"name": "pdf-forms", "description": "Fills forms."}.get(key)
        if value is None or draw.random() < 0.35:
            value = chosen(NAMES if key == "name" else OTHER.get(key, TEXTS))
        if key == "name":
            name = value
        lines.append(f"{key}:{'' if value.startswith(chr(10)) or not value else ' '}{value}")
        if draw.random() < 0.03:
            lines.append(chosen(["", "# comment", "   ", "\t", "junk", "---x", "..."]))
    text = "\n".join(lines)
    opening, closing = "---\n", "\n---\n"
    if odd < 0.02:
        opening = chosen(["", "--- \n", " ---\n", "----\n", "---\r\n", "\ufeff---\n", "--- # x\n", "\n---\n"])
    elif odd < 0.04:
        closing = chosen(["", "\n", "\n--- \n", "\n ---\n", "\n----\n", "---\n", "\n...\n"])
    elif odd < 0.05:
        text = text.replace("\n", "\r\n")
    return name, f"{opening}{text}{closing}\n# Body\n"


def directory_of(name, index):
    """A directory with the name of the skill where that can be one, below a directory of its own."""
    plain = name.strip().strip("'\"")
    is_name = plain and re.fullmatch(r"[^/\x00-\x1f]{1,80}", plain) and plain not in {".", ".."} and len(plain.encode()) < 255
    return root / f"{index:05}" / (plain if is_name else "pdf-forms")


shutil.rmtree(root, ignore_errors=True)
skills = {}
for index in range(number):
    name, text = front_matter()
    directory = directory_of(name, index)
    (directory / "evals").mkdir(parents=True)
    (directory / "SKILL.md").write_bytes(text.encode("utf-8", "surrogatepass"))
    (directory / "evals" / "evals.json").write_text(EVALS)
    skills[f"{index:05}"] = (directory, text)

found = collections.defaultdict(set)
paths = sorted(skills)
for start in range(0, len(paths), 200):
    entries = [str(skills[path][0].relative_to(root)) for path in paths[start : start + 200]]
    done = subprocess.run([program, "evalsuite", "check", "--format", "json", *entries], cwd=root, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    for line in filter(None, done.stdout.splitlines()):
        problem = json.loads(line)
        file = (problem.get("place") or problem).get("file") or ""
        match = re.search(r"(\d{5})/", file)
        if not match:
            sys.exit(f"no file of a skill: {line}")
        found[match[1]].add(problem["code"])

counts, listed = collections.Counter(), collections.Counter()
for index, (directory, text) in skills.items():
    try:
        said = validate(directory)
    except ParseError as error:
        said = [str(error)]
    except Exception as error:  # the reader itself breaks
        said = [f"{type(error).__name__}: {error}"]
    codes = found[index]
    counts["refused" if said else "accepted"] += 1
    if bool(said) == bool(codes):
        continue
    why = next((name for name, holds in LISTED.items() if holds(text, said, codes)), None)
    if why:
        listed[why] += 1
        continue
    counts["different"] += 1
    print(f"{index}: skills-ref {said or 'accepts it'}; evalsuite {sorted(codes) or 'accepts it'}\n  {directory.name!r} {text!r}")
print(dict(counts), dict(listed))
sys.exit(counts["different"] > 0)
