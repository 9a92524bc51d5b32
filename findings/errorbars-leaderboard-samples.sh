#!/usr/bin/env bash
# In the leaderboard of errorbars, asking the same 20 questions ten times makes the interval of each model three times narrower, as 200 questions would.
#
# Versions: errorbars 0.2.4 (PyPI), numpy 2.4.6.
# Behaviour: The input has a column for repeated samples of a question, and one for clusters of questions. The description promises every model with its
# interval, and gives the reason for the package as error bars that account for questions that come in groups. But the interval of a model in the
# leaderboard, and in its plot, takes each row as an independent question: neither column is looked at. The paired tests below it look at both.
# So a model whose interval ends at 0.64 is said to be better than one whose interval ends at 0.57, and with one sample less there is hardly a difference. In
# `summarize`, a cluster gives a second interval that is right; the first one is that of the leaderboard.
# Seen (20 questions, of which model A answers 14 and model B 10, the same in each sample):
#   one sample: n 20, A 0.481 to 0.855, B 0.299 to 0.701; ten samples: n 200, A 0.636 to 0.764, B 0.431 to 0.569; p 0.042 in both;
#   ten questions of each of 20 passages: n 200, A 0.636 to 0.764, and in summarize 0.480 to 0.920
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check errorbars==0.2.4 numpy==2.4.6

cat >leaderboard.py <<'PY'
import csv
import json
import subprocess


def write(name, row, samples):
    with open(name, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question_id", "cluster_id", "model", "score", "sample"])
        for model, right in [("A", 14), ("B", 10)]:
            for item in range(20):
                for number in range(samples):
                    rows.writerow(row(item, number, model, int(item < right)))


def errorbars(*arguments):
    return json.loads(subprocess.run(["python/bin/errorbars", *arguments, "--json"], capture_output=True, text=True, check=True).stdout)


def sampled(item, number, model, score):
    return [f"question {item}", f"question {item}", model, score, number]


def clustered(item, number, model, score):
    return [f"question {item}-{number}", f"passage {item}", model, score, 0]


for name, row, samples in [("one sample", sampled, 1), ("ten samples", sampled, 10), ("passages", clustered, 10)]:
    write("scores.csv", row, samples)
    board = errorbars("leaderboard", "scores.csv")
    intervals = [f"{entry['model']} {entry['ci_low']:.3f} to {entry['ci_high']:.3f}" for entry in board["entries"]]
    print(f"{name}: n {board['entries'][0]['n']}, {', '.join(intervals)}, p {board['pairwise'][0]['p_holm']:.3f}", end="; ")
summary = errorbars("summarize", "scores.csv", "--model", "A")["clustered"]
print(f"summarize: {summary['clustered_ci_low']:.3f} to {summary['clustered_ci_high']:.3f}")
PY
seen=$(python/bin/python leaderboard.py)
expected='one sample: n 20, A 0.481 to 0.855, B 0.299 to 0.701, p 0.042; '
expected+='ten samples: n 200, A 0.636 to 0.764, B 0.431 to 0.569, p 0.042; '
expected+='passages: n 200, A 0.636 to 0.764, B 0.431 to 0.569, p 0.042; summarize: 0.480 to 0.920'
echo "$seen"
[ "$seen" = "$expected" ]
