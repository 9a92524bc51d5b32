#!/usr/bin/env python3
"""Random inputs of graders with the result that Python's `re`, `json`, `decimal` and `fractions` give, a JSON object in each line.

Usage: third_opinion.py COUNT SEED
"""

import json
import random
import re
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

LETTERS = ["a", "b", "A", "1", "_", " ", "\n", "é", "-"]


def atom(rng, depth):
    kind = rng.randrange(9 if depth else 6)
    if kind < 3:
        return re.escape(rng.choice(LETTERS)).replace("\\\n", "\\n").replace("\\ ", " ")
    if kind == 3:
        return rng.choice([".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\b", r"\B"])
    if kind == 4:
        letters = "".join(rng.choice(["a", "b", "A", "1", "_", " ", "é"]) for _ in range(rng.randint(1, 3)))
        return f"[{rng.choice(['', '^'])}{letters}]"
    if kind == 5:
        return rng.choice(["a-c", "[a-c]", "[^0-9]", "[A-Za-z]"])
    if kind == 6:
        return f"(?:{pattern(rng, depth - 1)})"
    if kind == 7:
        return f"(?{rng.choice('=!')}{pattern(rng, depth - 1)})"
    return f"(?<{rng.choice('=!')}{rng.choice(['a', 'b1', '[ab]', ' '])})"


def pattern(rng, depth):
    branches = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        parts = []
        for _ in range(rng.randint(1, 3)):
            part = atom(rng, depth)
            if not part.startswith(("(?=", "(?!", "(?<", r"\b", r"\B")) and rng.random() < 0.3:
                part = f"(?:{part}){rng.choice(['*', '+', '?', '{1,2}', '{2}', '*?', '+?', '??'])}"
            parts.append(part)
        branches.append("".join(parts))
    return "|".join(branches)


def regex(rng):
    # Before 3.14, `\B` does not match in an empty text.
    text = "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 7)))
    written = pattern(rng, 2)
    if rng.random() < 0.3:
        group = pattern(rng, 0)
        written = f"({group}){written}\\1" if "|" not in written else f"({group})(?:{written})\\1"
    flags = "".join(flag for flag in "ims" if rng.random() < 0.3)
    value = 0
    for flag in flags:
        value |= {"i": re.I, "m": re.M, "s": re.S}[flag]
    return {"kind": "regex", "pattern": written, "flags": flags, "text": text,
            "expected": re.search(written, text, value) is not None}


PIECES = ["{", "}", "[", "]", ":", ",", '"a"', '"', "1", "-", "0", "01", "1.", ".5", "1e5", "1E+", "true", "nul", "null", "NaN",
          "Infinity", " ", "\n", "\t", "\\", "'", '"\\u0041"', '"\\u12"', '"\\ud83d\\ude00"', '"\x01"', "é", "\u00a0", "//"]


def value(rng, depth):
    kind = rng.randrange(7 if depth else 5)
    if kind < 5:
        return rng.choice([0, -1, 2.5, 1e-7, True, None, "", "a", "é\n\"", "{}"])
    if kind == 5:
        return [value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice(["a", "b", "ß"]): value(rng, depth - 1) for _ in range(rng.randint(0, 3))}


def refuse(name):
    raise ValueError(name)


def is_json(text):
    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def json_text(rng):
    if rng.random() < 0.4:
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 8)))
    else:
        text = json.dumps(value(rng, 3), ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1]))
        letters = list(text)
        change = rng.randrange(4)
        if change == 0:
            del letters[rng.randrange(len(letters))]
        if change == 1:
            letters.insert(rng.randint(0, len(letters)), rng.choice(PIECES))
        text = "".join(letters)
    return {"kind": "json", "text": text, "expected": is_json(text)}


def digits(rng):
    text = f"{rng.choice(['', '', '-'])}{rng.randint(0, 300)}"
    if rng.random() < 0.7:
        text += "." + "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 4)))
    return text


def number(rng):
    expected, tolerance = digits(rng), rng.choice(["0", "0.01", "0.1", "0.05", "1", "0.3", "0.001", "2.5"])
    if rng.random() < 0.6:
        step = Decimal(tolerance) * rng.choice([-1, 1]) + rng.choice([Decimal(0), Decimal(0), Decimal("0.001")])
        actual = format(Decimal(expected) + step, "f")
    else:
        actual = digits(rng)
    relative = rng.random() < 0.3
    difference = abs(Decimal(actual) - Decimal(expected))
    scale = abs(Decimal(expected)) if relative and Decimal(expected) != 0 else Decimal(1)
    return {"kind": "number", "expected_number": expected, "actual": actual, "tolerance": tolerance, "relative": relative,
            "expected": difference <= Decimal(tolerance) * scale}


def mean(rng):
    """A case of graders that score hit / (hit + miss). Their verdicts compare with the threshold, too, so that the mean alone decides."""
    threshold = rng.choice(["0.8", "0.7", "0.95", "0.5", "0.6", "1", "0.33", "0.75"])
    bound = Fraction(threshold)
    graders, total, weights = [], Fraction(0), Fraction(0)
    for _ in range(rng.randint(1, 5)):
        miss = rng.randint(0, 20)
        hit = 20 - miss if rng.random() < 0.7 else rng.randint(1, 9)
        weight = rng.choice(["1", "1", "1", "2", "0.5", "0.1", "3"])
        graders.append({"hit": hit, "miss": miss, "weight": weight})
        score = Fraction(hit, hit + miss)
        total += Fraction(weight) * score
        weights += Fraction(weight)
    return {"kind": "mean", "graders": graders, "threshold": threshold, "score": str(total / weights),
            "expected": total / weights >= bound}


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    getcontext().prec = 60
    rng = random.Random(seed)
    kinds = [regex, json_text, number, mean]
    for index in range(count):
        print(json.dumps(kinds[index % len(kinds)](rng)))


main()
