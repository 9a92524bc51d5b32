#!/usr/bin/env bash
# In the evals of Deep Agents, a question of two lines in a CSV file is two cases, of which the first accepts every answer.
#
# Versions: @deepagents/evals 0.29.1, csv-parse 7.0.3 (npm).
# Behaviour: `dataset` reads JSON, JSON Lines and CSV. A CSV file is read line by line, so a cell in quotation marks ends at its first line break, though the
# marks are not closed, and the rest of the row is a row of its own. No error is raised. The row with the beginning of the question has no further cells,
# and those that are missing become "". So its expected answer is "", which the scorer `includes` finds in every answer. An agent that never knows the
# answer is right in half of the cases, of which there are twice as many, and it is asked the beginnings of the questions and their ends.
# Seen (three questions of two lines each, and an agent that says "I do not know."):
#   6 cases, 3 right; csv-parse 3 cases, 0 right
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @deepagents/evals@0.29.1 csv-parse@7.0.3 >npm.log 2>&1

cat >cases.csv <<'CSV'
input,expected
"Answer in one word.
What is the capital of France?",Paris
"Answer in one word.
What is the capital of Italy?",Rome
"Answer in one word.
What is the capital of Spain?",Madrid
CSV
cat >cases.mjs <<'JS'
import { readFileSync } from "node:fs";
import { dataset } from "@deepagents/evals/dataset";
import { includes } from "@deepagents/evals/scorers";
import { parse } from "csv-parse/sync";

const readers = {
  dataset: await dataset("cases.csv").toArray(),
  "csv-parse": parse(readFileSync("cases.csv", "utf8"), { columns: true }),
};
for (const [name, rows] of Object.entries(readers)) {
  const scores = await Promise.all(rows.map((row) => includes({ ...row, output: "I do not know." })));
  const right = scores.filter(({ score }) => score === 1).length;
  console.log(`${name}: ${rows.length} cases, ${right} right, last input ${JSON.stringify(rows.at(-1).input)}`);
}
JS
seen=$(node cases.mjs)
expected='dataset: 6 cases, 3 right, last input "What is the capital of Spain?\""
csv-parse: 3 cases, 0 right, last input "Answer in one word.\nWhat is the capital of Spain?"'
echo "$seen"
[ "$seen" = "$expected" ]
