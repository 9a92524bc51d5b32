"""Compares the records of two runs of the same suites on different systems: names, digests and paths have to be the same."""

import json
import pathlib
import sys

KEYS = ["case_id", "test_name", "case_digest", "input_digest", "grader_digest", "suite_digest", "location", "outcome"]


def cases(run):
    found = {}
    for file in sorted(pathlib.Path(run).glob("suites/*/cases/*/case.json")):
        record = json.loads(file.read_text(encoding="utf-8"))
        found[str(file.parent.relative_to(run))] = {key: record.get(key) for key in KEYS}
    return found


def main(one, other):
    left, right = cases(one), cases(other)
    if not left:
        sys.exit(f"{one} has no records of cases")
    differences = [
        f"{name}: {left.get(name)} is not {right.get(name)}"
        for name in sorted(left.keys() | right.keys())
        if left.get(name) != right.get(name)
    ]
    if differences:
        sys.exit("\n".join(differences))
    print(f"{len(left)} cases have the same names, digests and outcomes")


main(*sys.argv[1:])
