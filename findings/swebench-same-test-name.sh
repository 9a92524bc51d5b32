#!/usr/bin/env bash
# In swebench, a Rust test that fails is passed if a test of another target has its name, and one with `should_panic` is never passed.
#
# Versions: swebench 5.0.2 (PyPI), cargo and its test harness.
# Behaviour: An instance is resolved if the tests that it names have passed. In the log of cargo, they are looked for by their names alone. cargo prints one list per
# target, and a name is unique within its target only: two files of integration tests that each have a `works` are two tests. The last one overwrites the others,
# so a change that makes the first `works` fail resolves the instance. The status of cargo, which is 101, only counts if no test of the log is recorded as failed.
# Behind the name of a test with `should_panic`, cargo prints a remark. Such a test is not found, so no change can resolve an instance that names it.
# Guess before the run: not resolved, as one `works` failed; resolved for the one that is to panic.
# Seen (status and lines of cargo; instances that name one test):
#   101; works FAILED, refuses - should panic ok, works ok; works: resolved, refuses: not resolved
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check swebench==5.0.2
mkdir src tests
cat >Cargo.toml <<'TOML'
[package]
name = "shop"
version = "0.1.0"
edition = "2024"
TOML
cat >src/lib.rs <<'RUST'
pub fn refund(paid: i32, amount: i32) -> i32 {
    assert!(paid > 0, "not paid");
    paid + amount
}
RUST
cat >tests/refund.rs <<'RUST'
#[test]
fn works() {
    assert_eq!(shop::refund(5, 2), 3);
}

#[test]
fn works_for_all() {
    assert_eq!(shop::refund(5, 5), 0);
}
RUST
cat >tests/unpaid.rs <<'RUST'
#[test]
fn works() {}

#[test]
#[should_panic(expected = "not paid")]
fn refuses() {
    shop::refund(0, 5);
}
RUST
status=0
cargo test --no-fail-fast -- --test-threads=1 >cargo.log 2>&1 || status=$?
{
    echo '>>>>> Start Test Output'
    cat cargo.log
    echo '>>>>> End Test Output'
    echo ">>>>> Test Exit Code: $status"
} >run.log
cat >grade.py <<'PY'
from swebench.harness.grading import get_eval_report
from swebench.types import TestSpec

for test in ["works", "refuses"]:
    instance = TestSpec(
        instance_id=test,
        image="",
        eval_script_list=[],
        repo="",
        version="",
        FAIL_TO_PASS=[test],
        PASS_TO_PASS=[],
        log_parser="parse_log_cargo",
        eval_type="pass_and_fail",
    )
    report = get_eval_report(instance, {"instance_id": test, "model_patch": "a change"}, "run.log", True)
    print(f"{test}: resolved {report[test]['resolved']}")
PY
seen="$status
$(grep -E '^test (works|refuses) ' cargo.log)
$(python/bin/python grade.py)"
expected='101
test works ... FAILED
test refuses - should panic ... ok
test works ... ok
works: resolved True
refuses: resolved False'
echo "$seen"
[ "$seen" = "$expected" ]
