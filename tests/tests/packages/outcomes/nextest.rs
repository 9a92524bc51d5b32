//! The outcomes under nextest.

use std::collections::BTreeSet;

use evalsuite_needs::needs;
use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Call, Package, suites};

use super::{OUTCOMES, outcomes};

#[needs(nextest)]
#[test]
fn under_nextest_all_processes_write_into_one_run() {
    let package = outcomes("outcomes_nextest");
    let ran = package.cargo(["nextest", "run", "--no-fail-fast", "--retries", "1"]).run();
    assert_eq!(ran.code, Some(100), "nextest's exit code for failed tests\n{}", ran.transcript());
    for (test, id, outcome) in OUTCOMES {
        let status = match (id, outcome) {
            ("second-attempt", _) => "FLAKY 2/2",
            (_, "passed" | "skipped") => "PASS",
            _ => "TRY 2 FAIL",
        };
        let shown = ran.stderr.lines().any(|line| line.contains(status) && line.ends_with(&format!("by_task::{test}")));
        assert!(shown, "expected {status} for {test}\n{}", ran.transcript());
    }
    ran.says("repeat: cargo nextest run -p outcomes_nextest -E 'test(=by_task::negative::fails)'");
    ran.says("evaluation failed: fails (echo_tasks)  score 0.50 < 1.00");

    let records = package.records();
    assert_eq!(records.runs().len(), 1, "all processes write into one run");
    let ids: BTreeSet<String> = records.results().iter().map(|result| result["run_id"].to_string()).collect();
    assert_eq!(ids.len(), 1, "all records name one run: {ids:?}");
    let attempts = |id: &str| -> BTreeSet<u64> {
        records.of_case(id).iter().filter_map(|result| result["runner_attempt"].as_u64()).collect()
    };
    assert_eq!(attempts("passes"), BTreeSet::from([1]), "expected one attempt at a test that passes");
    assert_eq!(attempts("fails"), BTreeSet::from([1, 2]), "each attempt has records of its own");
    let outcomes: Vec<Value> =
        records.of_case("second-attempt").iter().map(|result| result["outcome"].clone()).collect();
    assert_eq!(outcomes, ["failed", "passed"], "the second attempt passes, the first is kept");

    records.clear();
    let ran = package.cargo(["nextest", "run", "-E", "test(/::positive::/) - test(every_other)"]).run();
    ran.succeeds("the case that was chosen passes").says("1 test run: 1 passed, 11 skipped");
    assert_eq!(records.results().len(), 1, "only what the filter chose was run");
    let ran = package.cargo(["nextest", "run", "negative", "--no-fail-fast"]).run();
    ran.fails("both cases fail").says("2 tests run: 0 passed, 2 failed");

    records.clear();
    let ran = package.cargo(["nextest", "run", "positive::passes", "--stress-count", "2"]).run();
    ran.succeeds("the case passes every time");
    assert_eq!(records.of_case("passes").len(), 2, "each run of a stress test has its records");
}

#[needs(nextest)]
#[test]
fn each_inclusion_of_a_suite_has_its_own_records_and_workspaces() {
    let package = Package::new("several_records");
    let call = "evalsuite::include_eval_suite!(\"suites/by_task\", agent = several_records::agent);";
    package
        .library(suites::AGENT)
        .write("tests/one.rs", &format!("{call}\nmod again {{ {call} }}"))
        .write("tests/two.rs", call)
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"));
    let run_id = |call: Call| call.env("EVALSUITE_RUN_ID", "shared").run().succeeds("all cases pass");
    run_id(package.cargo(["test"]));
    let paths = package.records().named("result.json");
    assert_eq!(paths.len(), 3, "expected a record for each of the three tests of the case: {paths:?}");
    run_id(package.cargo(["test"]));
    assert_eq!(
        package.records().named("result.json"),
        paths,
        "expected a second run of the same id to write the same files"
    );

    package.records().clear();
    package.cargo(["nextest", "run"]).run().succeeds("all cases pass");
    assert_eq!(package.records().named("result.json").len(), 3, "expected a record of each process");
}
