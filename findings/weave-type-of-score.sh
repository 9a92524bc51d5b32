#!/usr/bin/env bash
# In Weave, a model that crashes in nine of ten rows is right in a tenth of them, or in all of them: the former if the scorer returns true, the latter if it returns 1.
#
# Versions: weave 0.54.0 (PyPI).
# Behaviour: The summary of an evaluation has the fraction of true for a scorer that returns bools, and the mean for one that returns numbers. A row whose
# prediction ended in an exception has no score. It counts as not true in the fraction, and is left out of the mean, which only a docstring in the
# code mentions. So one judgement of the same rows has two rates, and the summary does not have the number of rows without a score. The type of the first
# score decides for all: after a bool, each number above 0 is true. A scorer that returns true for a match and a similarity otherwise has a rate
# that depends on the order of the rows.
# Seen:
#   nine of ten rows crash: true_fraction 0.1, mean 1.0; none crashes: true_fraction 1.0, mean 1.0;
#   a match, then three similarities of 0.2: true_fraction 1.0; the match last: mean 0.4
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check weave==0.54.0

cat >evaluation.py <<'PY'
import asyncio
import logging

import weave

logging.disable(logging.CRITICAL)


class Model(weave.Model):
    crashes: int = 0

    @weave.op
    def predict(self, number: int):
        if number < self.crashes:
            raise ConnectionError("no connection")
        return number


@weave.op
def match(output, number):
    return {"right": output == number}


@weave.op
def score(output, number):
    return {"right": 1.0 if output == number else 0.0}


@weave.op
def similarity(output, number, right):
    return {"right": True if output == right else 0.2}


rows = [{"number": number, "right": 0} for number in range(10)]
evaluation = weave.Evaluation(dataset=rows, scorers=[match, score])
for crashes in (9, 0):
    found = asyncio.run(evaluation.evaluate(Model(crashes=crashes)))
    print(f"{crashes} crash: true_fraction {found['match']['right']['true_fraction']}, mean {found['score']['right']['mean']}", end="; ")
for name, order in [("first", rows[:4]), ("last", rows[3::-1])]:
    found = asyncio.run(weave.Evaluation(dataset=order, scorers=[similarity]).evaluate(Model()))["similarity"]["right"]
    print(f"true {name}:", ", ".join(f"{key} {value:.1f}" for key, value in found.items()), end="; ")
PY
seen=$(timeout 300 python/bin/python -W ignore evaluation.py 2>errors.log)
expected='9 crash: true_fraction 0.1, mean 1.0; 0 crash: true_fraction 1.0, mean 1.0; '
expected+='true first: true_count 4.0, true_fraction 1.0; true last: mean 0.4; '
echo "$seen"
[ "$seen" = "$expected" ]
