#!/usr/bin/env bash
# In VoltAgent's evaluations, all items have passed for a scorer that could not score nine of ten.
#
# Versions: @voltagent/evals 2.0.4, @voltagent/core 2.10.0 (npm).
# Behaviour: The guide for offline evaluations has an experiment succeed by two criteria: `passRate` of a scorer with the minimum 1.0, explained as all items
# having to pass, and `meanScore`, the average score across all items. An item whose scorer ended in an error counts for neither. It is in the numbers of
# errors, and in the pass rate of the experiment, but not in that of the scorer. So a judge that is refused from the second item on gives a pass rate of 1,
# and both criteria are met, as if it had called all items right. A judge that calls them wrong meets none.
# Seen (ten items):
#   judge refuses nine: errors 9, criteria passRate 1 met, meanScore 1 met, pass rate of the experiment 0.1; judge says right once: errors 0, passRate 0.1 not met,
#   meanScore 0.1 not met
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @voltagent/evals@2.0.4 @voltagent/core@2.10.0 >npm.log 2>&1

cat >experiment.mjs <<'JS'
import { createExperiment, runExperiment } from "@voltagent/evals";

const refuses = () => {
  throw new Error("429 Too Many Requests");
};
const wrong = () => ({ status: "success", score: 0 });
for (const [name, later] of [
  ["judge refuses nine", refuses],
  ["judge says right once", wrong],
]) {
  let asked = 0;
  const scorer = async () => (asked++ === 0 ? { status: "success", score: 1 } : later());
  const experiment = createExperiment({
    id: "capitals",
    dataset: { items: Array.from({ length: 10 }, (_, index) => ({ id: `${index}`, input: "Capital of Peru?", expected: "Lima" })) },
    runner: async () => ({ output: "Lima" }),
    scorers: [{ id: "judge", scorer: { id: "judge", name: "judge", scorer }, threshold: 0.5 }],
    passCriteria: [
      { type: "passRate", min: 1, scorerId: "judge" },
      { type: "meanScore", min: 0.5 },
    ],
  });
  const { summary } = await runExperiment(experiment);
  const criteria = summary.criteria.map(({ criteria: { type }, actual, passed }) => `${type} ${actual} ${passed ? "met" : "not met"}`);
  console.log(`${name}: errors ${summary.errorCount}, ${criteria.join(", ")}, pass rate of the experiment ${summary.passRate}`);
}
process.exit(0);
JS
seen=$(node experiment.mjs 2>stderr.log)
expected='judge refuses nine: errors 9, passRate 1 met, meanScore 1 met, pass rate of the experiment 0.1
judge says right once: errors 0, passRate 0.1 not met, meanScore 0.1 not met, pass rate of the experiment 0.1'
echo "$seen"
[ "$seen" = "$expected" ]
