#!/usr/bin/env bash
# Viteval ends with status 0 if evaluations failed, and its report file says that all is well.
#
# Versions: viteval 0.5.9, vitest 4.1.12 (npm), which is the version that npm installs for it.
# Behaviour: `viteval run` runs the evaluations with Vitest, and the terminal shows what is below its threshold. But it ends with status 0 whatever the
# outcome, so a pipeline cannot fail. The file that the reporter `file` writes for the user interface is made before the first evaluation, with `success:
# true`, and should be completed in a hook that Vitest 4, the version asked for, does not have any more. So it never has a result. Vitest itself, on such a
# file, ends with status 1.
# Seen (one evaluation, whose score is 0 and whose threshold is 1):
#   viteval: exit 0, failed in terminal: 1, file: {"success":true,"numTotalEvals":0,"status":"running"}; vitest: exit 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export TMPDIR=$folder
npm install --silent --no-audit --no-fund viteval@0.5.9 vitest@4.1.12 >npm.log 2>&1

cat >viteval.config.mjs <<'JS'
import { defineConfig } from "viteval/config";

export default defineConfig({ eval: { include: ["*.eval.mjs"] } });
JS
cat >capital.eval.mjs <<'JS'
import { createScorer, evaluate } from "viteval";

evaluate("capital", {
  data: async () => [{ input: "Capital of Peru?", expected: "Lima" }],
  task: async () => "Cusco",
  scorers: [createScorer({ name: "same", score: async ({ output, expected }) => ({ score: output === expected ? 1 : 0 }) })],
  threshold: 1,
});
JS
cat >capital.test.mjs <<'JS'
import { expect, test } from "vitest";

test("capital", () => expect("Cusco").toBe("Lima"));
JS
viteval=0
NO_COLOR=1 npx viteval run --reporters default file >terminal.log 2>&1 || viteval=$?
failed=$(grep -c 'Tests  1 failed' terminal.log)
file=$(node -p 'const { success, numTotalEvals, status } = JSON.parse(fs.readFileSync(process.argv[1])); JSON.stringify({ success, numTotalEvals, status })' \
  .viteval/results/*.json)
vitest=0
npx vitest run capital.test.mjs >vitest.log 2>&1 || vitest=$?
seen="viteval: exit $viteval, failed in terminal: $failed, file: $file; vitest: exit $vitest"
echo "$seen"
[ "$seen" = 'viteval: exit 0, failed in terminal: 1, file: {"success":true,"numTotalEvals":0,"status":"running"}; vitest: exit 1' ]
