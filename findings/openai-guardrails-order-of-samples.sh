#!/usr/bin/env bash
# In the benchmark of OpenAI Guardrails for JavaScript, a guardrail whose model cannot be reached has an ROC AUC of 1 or of 0, depending on which samples come first.
#
# Versions: @openai/guardrails 0.2.1 (npm). No model is asked: the guardrails are functions.
# Behaviour: The benchmark computes the area under the ROC curve, the precision at a recall of 95 % and the recall at a false positive rate of 1 %, from the confidence of each sample. It sorts the samples
# by confidence and takes a step of the curve after each sample, also within equal confidences, which leave no choice of a threshold between them. Within those, the order of the dataset decides.
# Models give few different confidences, such as 0.9 and 0.1. A sample whose guardrail failed counts as one that was not triggered, with a confidence of 0. So a guardrail that fails on all samples has
# the best values if the samples that should trigger come first in the file, and the worst ones if they come last. The Python version of the package takes the metrics of scikit-learn, which give
# 0.5 for it in each order. The README and the comments of the calculator say nothing about an order.
# Guess before the run: 0.5 in each order, or no value, as nothing was measured; 0.75 for a guardrail that triggers on all bad and half of the good samples.
# Seen (20 samples that should trigger, 20 that should not; each pair of two confidences that are equal counts one half in the right value):
#   model not reached, bad samples first: AUC 1, precision at recall 95 % 1, recall at FPR 1 % 1; bad samples last: 0, 0.5, 0; right AUC 0.5
#   triggers on half of the good ones, bad samples first: AUC 1; last: 0.5; right AUC 0.75
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @openai/guardrails@0.2.1 >npm.log 2>&1

cat >benchmark.cjs <<'JS'
const { AsyncRunEngine, BenchmarkMetricsCalculator } = require("@openai/guardrails");

const bad = Array.from({ length: 20 }, (_, n) => ({ id: `bad ${n}`, data: `bad ${n}`, expectedTriggers: { Fraud: true } }));
const good = Array.from({ length: 20 }, (_, n) => ({ id: `good ${n}`, data: `good ${n}`, expectedTriggers: { Fraud: false } }));
const guardrails = {
  "model not reached": () => {
    throw new Error("503 Service Unavailable");
  },
  "half of the good ones": (data) => {
    const confidence = data.startsWith("bad") || Number(data.split(" ")[1]) < 10 ? 0.9 : 0.1;
    return { tripwireTriggered: confidence > 0.5, info: { confidence } };
  },
};
const confidence = ({ details }) => details.Fraud.confidence ?? 0;
const half = (a, b) => (a > b ? 1 : a === b ? 0.5 : 0);

(async () => {
  console.log = () => {}; // progress
  for (const [name, check] of Object.entries(guardrails)) {
    const guardrail = { definition: { name: "Fraud" }, run: async (_context, data) => check(data) };
    for (const [order, samples] of [
      ["bad samples first", [...bad, ...good]],
      ["bad samples last", [...good, ...bad]],
    ]) {
      const results = await new AsyncRunEngine([guardrail]).run({}, samples, 10);
      const found = new BenchmarkMetricsCalculator().calculateAdvancedMetrics(results, "Fraud", { confidence_threshold: 0.7 });
      const wins = results.filter((a) => a.expectedTriggers.Fraud).flatMap((a) => results.filter((b) => !b.expectedTriggers.Fraud).map((b) => half(confidence(a), confidence(b))));
      const right = wins.reduce((sum, win) => sum + win, 0) / wins.length;
      const numbers = [found.roc_auc, found.prec_at_r95, found.recall_at_fpr01].map((value) => Number(value.toFixed(2)));
      process.stdout.write(`${name}, ${order}: AUC ${numbers[0]} (right ${right}), precision at recall 95 % ${numbers[1]}, recall at FPR 1 % ${numbers[2]}\n`);
    }
  }
})();
JS
seen=$(node benchmark.cjs 2>stderr.log)
expected='model not reached, bad samples first: AUC 1 (right 0.5), precision at recall 95 % 1, recall at FPR 1 % 1
model not reached, bad samples last: AUC 0 (right 0.5), precision at recall 95 % 0.5, recall at FPR 1 % 0
half of the good ones, bad samples first: AUC 1 (right 0.75), precision at recall 95 % 1, recall at FPR 1 % 1
half of the good ones, bad samples last: AUC 0.5 (right 0.75), precision at recall 95 % 0.67, recall at FPR 1 % 0'
echo "$seen"
[ "$seen" = "$expected" ]
