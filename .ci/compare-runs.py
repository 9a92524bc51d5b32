"""Compares the records of two runs of the same suites on different systems: names, digests and paths have to be the same.

With `--baseline DIRECTORY`, each case of the baselines there has to pass in both runs as expected.
"""

import json
import pathlib
import sys

KEYS = ["case_id", "test_name", "case_digest", "input_digest", "grader_digest", "suite_digest", "location", "outcome", "baseline"]


def cases(run):
    found = {}
    for file in sorted(pathlib.Path(run).glob("suites/*/cases/*/case.json")):
        record = json.loads(file.read_text(encoding="utf-8"))
        found[str(file.parent.relative_to(run))] = {key: record.get(key) for key in KEYS}
    return found


def expected(baselines, found):
    accepted = [
        json.loads(line)["case"]
        for file in pathlib.Path(baselines).glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()[1:]
    ]
    as_expected = {case["case_id"] for case in found if (case["baseline"] or {}).get("expectation") == "expected_pass"}
    if not accepted or set(accepted) != as_expected:
        sys.exit(f"{len(accepted)} cases are in the baselines, and these passed as expected: {sorted(as_expected)}")
    print(f"{len(accepted)} cases passed as their baseline expects")


def main(one, other, *baselines):
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
    if baselines:
        expected(baselines[1], left.values())


main(*sys.argv[1:])
