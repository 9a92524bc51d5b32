#!/usr/bin/env bash
# In the report of cargo2junit, a test that failed is missing if a later test of its program exits, and the run has passed with status 0.
#
# Versions: cargo2junit 0.1.15 (crates.io); cargo test of Rust 1.95 with its unstable output in JSON, as the description has it.
# Behaviour: cargo2junit writes a suite to its report when the line comes that ends it. A test program that exits, is killed or runs out of memory writes no such line, and cargo test
# runs no further program. What was read of the suite, with all tests that passed or failed before, is dropped without a word, and so is the test that was running. The report has
# the suites before it, which have passed, and the status of cargo2junit, which is 1 if a test failed, is 0. In the pipe that the description suggests, the status of cargo test
# is not seen. An agent under test that ends the process has made its own failures disappear. That there are results at all is checked: a run whose first program exits is an error.
# Guess before the run: the failed test in the report, an error for the one that was running, and status 1.
# Seen (tests prices in one program; a_refund, which fails, b_budget, which exits, and c_answer in the next one):
#   cargo test: a_refund has failed, status 3; report: 1 test, prices, 0 failures; status of cargo2junit: 0; without b_budget: 3 tests, 1 failure, status 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cargo install --quiet cargo2junit --version 0.1.15 --root tools 2>install.log || { cat install.log && exit 1; }
mkdir -p shop/src shop/tests
cat >shop/Cargo.toml <<'TOML'
[package]
name = "shop"
version = "0.1.0"
edition = "2024"
TOML
cat >shop/src/lib.rs <<'RUST'
#[test]
fn prices() {}
RUST
cat >shop/tests/agent.rs <<'RUST'
#[test]
fn a_refund() {
    panic!("the order was not refunded");
}

#[test]
fn b_budget() {
    std::process::exit(3);
}

#[test]
fn c_answer() {}
RUST
run() {
    local status=0 converted=0
    (cd shop && RUSTC_BOOTSTRAP=1 cargo test --quiet --lib --tests -- -Z unstable-options --format json --test-threads 1 "$@") >log.json 2>log.txt || status=$?
    tools/bin/cargo2junit <log.json >report.xml 2>log.txt || converted=$?
    echo "cargo test: $status, failed: $(grep -c '"name": "a_refund", "event": "failed"' log.json || true)"
    echo "cargo2junit: $converted, tests: $(grep -o '<testcase name="[a-z_]*"' report.xml | cut -d '"' -f 2 | paste -s -d ' '), failures: $(grep -c '<failure' report.xml || true)"
}
seen=$(run && run --skip b_budget)
expected='cargo test: 3, failed: 1
cargo2junit: 0, tests: prices, failures: 0
cargo test: 101, failed: 1
cargo2junit: 1, tests: prices a_refund c_answer, failures: 1'
echo "$seen"
[ "$seen" = "$expected" ]
