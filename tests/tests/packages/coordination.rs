//! Cases that depend on each other, as threads of one process and as processes of nextest.

use std::fs;
use std::path::PathBuf;

use evalsuite_needs::needs;
use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Call, Package, suites};

/// An agent that logs its calls in a file. Its first call for `b-flaky` fails.
const CODE: &str = r#"
use std::io::Write;

use evalsuite::{AgentError, Trial};

fn echo(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    let file = trial.env("CALLS").ok_or_else(|| AgentError::new("CALLS is not set"))?;
    let error = |error: std::io::Error| AgentError::new(error.to_string());
    let is_first = !std::fs::read_to_string(&file).unwrap_or_default().contains(trial.case_id());
    let mut calls = std::fs::File::options().create(true).append(true).open(&file).map_err(error)?;
    writeln!(calls, "{}", trial.case_id()).map_err(error)?;
    if trial.case_id() == "b-flaky" && is_first {
        return Err(AgentError::new("overloaded"));
    }
    Ok(match trial.dependency("start") {
        Some(start) => format!("{} and more", start.answer().unwrap_or_default()),
        None => trial.prompt().to_owned(),
    })
}

evalsuite::include_eval_suite!("suites/steps", agent = echo);
"#;

struct Steps {
    package: Package,
    calls: PathBuf,
}

impl Steps {
    fn new(name: &str) -> Self {
        let package = suites::package_with_suite(name, "steps", CODE);
        package.write("suites/steps/EVAL.yaml", "execution: { workers: 1 }\n");
        let case = |id: &str, depends_on: &str| {
            let case = format!("{}{depends_on}\n", suites::case("hello", "hello"));
            package.write(&format!("suites/steps/cases/{id}/case.yaml"), &case);
        };
        case("start", "");
        case("end", "depends_on: [left, right, start]");
        case("left", "depends_on: [start]");
        case("right", "depends_on: [start]");
        case("b-flaky", "");
        case("a-needs-flaky", "depends_on: [b-flaky]\non_dependency_failure: fail");
        let calls = package.root().join("calls.log");
        package.write("eval.env", &format!("# where the agent notes its calls\nCALLS=\"{}\"\n", calls.display()));
        Self { package, calls }
    }

    fn cargo(&self, arguments: &[&str]) -> Call {
        self.package.records().clear();
        let _ = fs::remove_file(&self.calls);
        self.package.cargo(arguments.iter().copied()).env("EVALSUITE_ENV_FILE", self.package.root().join("eval.env"))
    }

    fn calls(&self) -> Vec<String> {
        fs::read_to_string(&self.calls).expect("the agent was called").lines().map(str::to_owned).collect()
    }

    fn record(&self, id: &str) -> Value {
        let cases = self.package.records().cases();
        cases.into_iter().rfind(|case| case["case_id"] == id).unwrap_or_else(|| panic!("{id} has no record"))
    }
}

#[needs(nextest)]
#[test]
fn a_case_runs_after_its_dependencies_in_threads_and_in_processes() {
    let steps = Steps::new("coordination");
    let in_order = |calls: &[String]| {
        assert_eq!((calls.len(), calls[0].as_str(), calls[3].as_str()), (4, "start", "end"), "{calls:?}");
    };
    let ran = steps.cargo(&["test", "--test", "evals", "--", "--skip", "flaky"]).run().succeeds("all cases pass");
    ran.says("5 passed");
    in_order(&steps.calls());
    steps
        .cargo(&["test", "--test", "evals", "end"])
        .run()
        .succeeds("dependencies run whatever the filter")
        .says("1 passed");
    in_order(&steps.calls());
    assert_eq!(steps.record("left")["requested_by"], "end");

    let unset = steps.package.cargo(["test", "--test", "evals", "start"]).env("EVALSUITE_ENV_FILE", "no.env");
    unset.run().fails("the file does not exist").says("(setup/invalid_setting): EVALSUITE_ENV_FILE is no.env: ");

    let verbose = steps.cargo(&["test", "--test", "evals", "start"]).env("EVALSUITE_VERBOSE", "1").run();
    verbose
        .succeeds("the case passes")
        .says("evalsuite: steps::start trial 0: passed; setup ")
        .says("evalsuite: $ git ");

    let ran = steps.cargo(&["nextest", "run", "-E", "not test(flaky)"]).run().succeeds("all cases pass");
    ran.says("5 tests run: 5 passed");
    in_order(&steps.calls());
    assert_eq!(steps.package.records().cases().len(), 4, "every case has one record");

    // Each partition runs the dependencies of its cases.
    for part in ["count:1/2", "count:2/2"] {
        let ran = steps.cargo(&["nextest", "run", "--partition", part, "-E", "not test(flaky)"]).run();
        ran.succeeds("every partition passes on its own");
        let calls = steps.calls();
        let mut once = calls.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), calls.len(), "{part}: expected no case to run twice: {calls:?}");
    }

    // Where a dependency has failed, the second attempt of the dependent test repeats the dependency.
    let ran = steps.cargo(&["nextest", "run", "-j1", "--retries", "1", "-E", "test(flaky)"]).run();
    let ran = ran.succeeds("the second runner attempts pass");
    assert!(
        ran.stderr.lines().any(|line| line.contains("FLAKY 2/2") && line.ends_with("a_needs_flaky")),
        "{}",
        ran.transcript()
    );
    assert_eq!(
        steps.calls(),
        ["b-flaky", "b-flaky", "a-needs-flaky"],
        "the test of the dependency reports its second attempt"
    );
}

#[needs(nextest)]
#[test]
fn infrastructure_errors_are_retried_and_can_stop_the_run_of_all_processes() {
    let steps = Steps::new("coordination_limits");
    let ran = steps.cargo(&["test", "--test", "evals", "flaky"]).env("EVALSUITE_RETRIES", "1").run();
    ran.succeeds("the second attempt passes");
    let attempts: Vec<Value> =
        steps.package.records().of_case("b-flaky").iter().map(|trial| trial["attempt"].clone()).collect();
    assert_eq!(attempts, [0, 1], "both attempts are kept");

    let budget = steps.cargo(&["test", "--test", "evals", "start"]).env("EVALSUITE_BUDGET_USD", "none").run();
    budget.fails("the budget is not a number").says("EVALSUITE_BUDGET_USD is `none`, not a number above 0");

    steps.package.write("suites/steps/EVAL.yaml", "execution: { workers: 1, fail_on_error: true }\n");
    let ran = steps.cargo(&["nextest", "run", "-j1", "--no-fail-fast"]).run().fails("one case is an error");
    ran.says("evaluation error (agent/agent_error): b-flaky");
    ran.says("evaluation error (budget/error_threshold_exceeded): start");
    assert_eq!(steps.calls(), ["b-flaky"], "expected no trial after the error");
}
