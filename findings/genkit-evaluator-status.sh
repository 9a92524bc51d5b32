#!/usr/bin/env bash
# In Genkit's evaluators, a regular expression that must not match passes where it matches, and a right answer of 0 or false is missing.
#
# Versions: @genkit-ai/evaluator 1.42.0, genkit 1.42.0 (npm).
# Behaviour: each metric can have a `statusOverrideFn` that makes the status from the score, for example one that turns it round, for what an answer must not
# be. It is called for six of the seven metrics, and not for REGEX, although the type of the options has it there too. So an answer with the forbidden
# text passes, and one without it fails, without an error. Whether an answer or a reference is there is decided by whether it is truthy: 0, false and an empty
# text are errors in DEEP_EQUAL, JSONATA and REGEX, also where they are expected.
# Seen (a score that is true must fail; an answer equal to its reference):
#   regex: true PASS; deep_equal: true FAIL; jsonata: true FAIL; 7: true PASS; 0, false and "": Output was not provided
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @genkit-ai/evaluator@1.42.0 genkit@1.42.0 >npm.log 2>&1

cat >evaluate.mjs <<'JS'
import { writeFileSync } from "node:fs";
import { GenkitMetric, genkitEval } from "@genkit-ai/evaluator";
import { genkit } from "genkit";

const { DEEP_EQUAL, JSONATA, REGEX } = GenkitMetric;
async function evaluate(ai, evaluator, output, reference) {
  const dataset = [{ testCaseId: "case", input: "question", output, reference }];
  const [{ evaluation }] = await ai.evaluate({ evaluator: `genkitEval/${evaluator}`, dataset });
  return evaluation.error ? evaluation.error.split("Error: ")[1] : `${evaluation.score} ${evaluation.status}`;
}
const statusOverrideFn = ({ score }) => (score.score ? "FAIL" : "PASS");
const turned = [REGEX, DEEP_EQUAL, JSONATA].map((type) => ({ type, statusOverrideFn }));
const forbidding = genkit({ plugins: [genkitEval({ metrics: turned })] });
const seen = [
  `regex: ${await evaluate(forbidding, "regex", "the password is x", "password")}`,
  `deep_equal: ${await evaluate(forbidding, "deep_equal", "x", "x")}`,
  `jsonata: ${await evaluate(forbidding, "jsonata", { password: "x" }, "password")}`,
];
const plain = genkit({ plugins: [genkitEval({ metrics: [DEEP_EQUAL] })] });
for (const answer of [7, 0, false, ""]) {
  seen.push(`${JSON.stringify(answer)}: ${await evaluate(plain, "deep_equal", answer, answer)}`);
}
writeFileSync("seen", seen.join("; "));
process.exit();
JS
node evaluate.mjs >node.log 2>&1 || { tail node.log; exit 1; }
cat seen
expected='regex: true PASS; deep_equal: true FAIL; jsonata: true FAIL; 7: true PASS; 0: Output was not provided; '
expected+='false: Output was not provided; "": Output was not provided'
[ "$(cat seen)" = "$expected" ]
