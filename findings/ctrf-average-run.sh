#!/usr/bin/env bash
# In the reference implementation of CTRF, the average duration of a run does not depend on how long the runs took.
#
# Versions: ctrf 0.3.0 (npm).
# Behaviour: `addInsights` computes `averageRunDuration`, which the schema describes as the average duration of a run. It divides the duration of all
# tests in all runs by the number of different tests, not by the number of runs. Three runs of 10, 20 and 40 seconds that consist of 1, 2 and 4 tests
# of 10 seconds each have the same average of 30 seconds. The 95th percentile beside it is right, so the average is three times the percentile, or less
# than the shortest run. The number of tests is reported as the number of reports analysed.
# Seen (three equal runs each):
#   1 test: average 30 s, p95 10 s; 2 tests: average 30 s, p95 20 s; 4 tests: average 30 s, p95 40 s
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ctrf@0.3.0 >npm.log 2>&1

cat >insights.mjs <<'JS'
import { addInsights, ReportBuilder, TestBuilder } from "ctrf";

const run = (begin, tests) => {
  const builder = new ReportBuilder().tool({ name: "evals" });
  for (let test = 0; test < tests; test++) {
    const start = begin + test * 10_000;
    builder.addTest(new TestBuilder().name(`case ${test}`).status("passed").duration(10_000).start(start).stop(start + 10_000).build());
  }
  return builder.build();
};
const seen = [];
for (const tests of [1, 2, 4]) {
  const { insights } = addInsights(run(3_000_000, tests), [run(2_000_000, tests), run(1_000_000, tests)]);
  const { averageRunDuration, p95RunDuration } = insights;
  seen.push(`${tests} tests: average ${averageRunDuration.current / 1000} s, p95 ${p95RunDuration.current / 1000} s`);
}
console.log(seen.join("; "));
JS
seen=$(node insights.mjs)
expected='1 tests: average 30 s, p95 10 s; 2 tests: average 30 s, p95 20 s; 4 tests: average 30 s, p95 40 s'
echo "$seen"
[ "$seen" = "$expected" ]
