#!/usr/bin/env bash
# In Evalite, a score of 58 % is below a threshold of 58 %.
#
# Versions: evalite 0.19.0, vitest 4.1.12 (npm). The results are kept in memory, so that no database has to be built.
# Behaviour: `--threshold` fails a run whose score is below it. The average of 0.58 is multiplied by 100, which is 57.99999999999999, and compared with 58.
# So a run that reaches its threshold exactly can fail, and the summary says 58 % twice, and failed. Of 100 cases with a score of 0 or 1 it happens
# at 29, 57 and 58 %; at all others the equal score is enough, as it is said to be.
# Seen (58 of 100 cases are right; then 60 of 100):
#   58 right, threshold 57: exit 0; 58 right, threshold 58: exit 1, Score 58%, Threshold 58% (failed); 60 right, threshold 60: exit 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts evalite@0.19.0 vitest@4.1.12 >npm.log 2>&1

cat >evalite.config.mjs <<'JS'
import { defineConfig } from "evalite/config";
import { createInMemoryStorage } from "evalite/in-memory-storage";

export default defineConfig({ storage: () => createInMemoryStorage(), hideTable: true });
JS
cat >refunds.eval.ts <<'TS'
import { evalite } from "evalite";

const right = Number(process.env.RIGHT);
evalite("refunds", {
  data: () => Array.from({ length: 100 }, (_, input) => ({ input })),
  task: async (order) => order,
  scorers: [{ name: "right", scorer: ({ output }) => (output < right ? 1 : 0) }],
});
TS
seen=
for run in '58 57' '58 58' '60 60'; do
  read -r right threshold <<<"$run"
  status=0
  RIGHT=$right NO_COLOR=1 npx evalite run --threshold="$threshold" >run.log 2>&1 || status=$?
  said=$(grep -oE '(Score|Threshold) +[0-9]+%( \((passed|failed)\))?' run.log | tr -s ' ' | paste -sd, || true)
  seen+="$right right: exit $status, $said; "
done
echo "$seen"
[ "$seen" = '58 right: exit 0, Score 58%,Threshold 57% (passed); 58 right: exit 1, Score 58%,Threshold 58% (failed); 60 right: exit 0, Score 60%,Threshold 60% (passed); ' ]
