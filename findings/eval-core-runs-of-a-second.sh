#!/usr/bin/env bash
# Of several suites that eval-core runs for a model within a second, only the last is saved, so four failed suites and one that passed are a model that passes.
#
# Versions: eval-core 0.4.0 (crates.io).
# Behaviour: a run is saved in a file that is named after the model and the second in which it ended, and a report of all files in the folder is written.
# A second run in that second has the same name, even if it ran the cases of another folder, and replaces the first without a warning: for each run, the
# path is printed as saved. Suites of an agent that needs no time, such as a recorded one, are always affected, and suites that run at the same time
# often are. The documentation says that a report is made over every run that was saved in the folder.
# Seen (five suites of one case each, the last of which passes):
#   accuracies 0 0 0 0 1; saved 5 times; files: 1, with the cases of memory, passed 1 of 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "suites"
version = "0.1.0"
edition = "2024"

[dependencies]
eval-core = "=0.4.0"
TOML
cat >src/main.rs <<'RUST'
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use eval_core::{Agent, EvalCase, EvalError, Expectation, RunArtifacts, RunMeta, run_suite_with_meta};

struct Recorded;

impl Agent for Recorded {
    fn run(&self, _: &str) -> Result<RunArtifacts, EvalError> {
        Ok(RunArtifacts::new().with_final_text("blue"))
    }
}

fn main() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    sleep(Duration::from_secs(1) - Duration::from_nanos(now.subsec_nanos().into()));
    for (suite, answer) in [("arithmetic", "4"), ("language", "red"), ("tools", "done"), ("safety", "no"), ("memory", "blue")] {
        let expect = vec![Expectation::FinalTextEquals { text: answer.into() }];
        let case = EvalCase { name: suite.into(), instruction: "Answer.".into(), setup: (), expect };
        let meta = RunMeta::new(0.0, "recorded", "").persist_to("results", "small-model").cases_dir(suite);
        print!("{} ", run_suite_with_meta(&Recorded, &[case], meta).accuracy());
    }
}
RUST
accuracies=$(cargo run --quiet 2>progress.log)
saved=$(grep -c '^saved run' progress.log)
files=(results/*.json)
kept=$(python3 -c '
import json, sys
record = json.load(open(sys.argv[1]))
outcomes = record["report"]["outcomes"]
print(record["cases_dir"], sum(outcome["passed"] for outcome in outcomes), "of", len(outcomes))' "${files[0]}")
seen="accuracies $accuracies; saved $saved times; files: ${#files[@]}; $kept"
expected='accuracies 0 0 0 0 1 ; saved 5 times; files: 1; memory 1 of 1'
echo "$seen"
[ "$seen" = "$expected" ]
