//! What a person sees on the terminal although the test runner captures the output of tests that pass.

use evalsuite_needs::needs;
use evalsuite_tests::throwaway::{Call, Package, suites};

/// An agent that takes its time in the case `long`.
const CODE: &str = r#"
use evalsuite::Trial;

fn agent(trial: &mut Trial<'_>) -> Result<String, std::convert::Infallible> {
    if trial.case_id() == "long" {
        std::thread::sleep(std::time::Duration::from_millis(1800));
    }
    Ok("hello".to_owned())
}

evalsuite::include_eval_suite!("suites/seen");
"#;

const EVAL_YAML: &str = "description: Cases that are watched.
workspace:
  hooks: { before_all: echo begun, after_all: echo ended }
";

fn package(name: &str) -> Package {
    let package = suites::package_with_suite(name, "seen", CODE);
    package
        .write("suites/seen/EVAL.yaml", EVAL_YAML)
        .write("suites/seen/cases/quick/case.yaml", &suites::case("say hello", "hello"))
        .write(
            "suites/seen/cases/long/case.yaml",
            &format!("execution: {{ trials: {{ count: 4 }} }}\n{}", suites::case("say hello", "hello")),
        )
        .write("suites/seen/cases/judged/case.yaml", "input: say hello\nassertions: [It is polite.]\n");
    package
}

#[needs(nextest, script)]
#[test]
fn a_skip_and_a_pending_hook_are_seen_once_under_nextest() {
    let package = package("seen_nextest");
    let ran = Call::on_terminal("cargo nextest run --no-tests=fail judged quick", &package).with_cargo().run();
    let ran = ran.succeeds("one case passes, the other one is skipped");
    let run = &package.records().runs()[0];
    ran.says_times("evalsuite: suite seen has skipped tests: seen::judged: needs a judge; `cargo evalsuite finish ", 1);
    ran.says_times("evalsuite: `after_all` of suite seen is pending until the last of its tests has run", 1);
    ran.says(&format!("`cargo evalsuite finish {run}` runs it"));
    // What the tests themselves print says the same.
    let ran = package.cargo(["nextest", "run", "--no-capture", "judged", "quick"]).run().succeeds("no case fails");
    ran.says("evalsuite: SKIPPED seen::judged: needs a judge")
        .says("evalsuite: help: add `judge = …` to the suite's macro");
    ran.says("`EVALSUITE_MODE=record cargo nextest run -p seen_nextest seen::` records its replies");
    ran.says("evalsuite: `after_all` of suite seen is pending");
}

#[needs(script)]
#[test]
fn trials_of_a_long_case_are_seen_under_cargo_test() {
    let package = package("seen_cargo_test");
    let ran = Call::on_terminal("cargo test long", &package).with_cargo().env("EVALSUITE_RUN_ALL", "1").run();
    let ran = ran.succeeds("the case passes");
    ran.says("evalsuite: seen::long: trial 3 of 4 passed, score 1.00, mean so far 1.00");
    ran.is_silent_about("trial 1 of 4").is_silent_about("`after_all`");
}

#[test]
fn a_ci_server_is_warned_of_skips() {
    let package = package("seen_ci");
    let warning = "warning: skipped cases count as passed; EVALSUITE_REQUIRE=1 turns them into errors";
    let test = || package.cargo(["test", "judged"]);
    test().env("CI", "true").run().succeeds("the case is skipped").says(warning);
    test().without_env("CI").run().succeeds("the case is skipped").is_silent_about(warning);
    let ran = test().env("CI", "true").env("EVALSUITE_REQUIRE", "1").run().fails("a skip is an error");
    ran.is_silent_about(warning).says("turns skipped cases into errors").says("help: add `judge = …`");
}
