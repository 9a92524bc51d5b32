//! Cases that pass, fail, are errors or are skipped: the output, the exit status and the records of a run.

mod archive;
mod failure_output;
mod nextest;
mod program;
mod records;

use evalsuite_tests::throwaway::{Package, suites};

/// An agent and graders that behave as the id of the case says.
const CODE: &str = r#"
use evalsuite::{AgentError, Evidence, Score, Trial};

async fn echo(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    trial.log(format!("working on {}", trial.case_id()));
    let attempt = std::env::var("NEXTEST_ATTEMPT").unwrap_or_default();
    match trial.case_id() {
        "agent-panics" => panic!("the agent fell over"),
        "agent-errs" => Err(AgentError::new("no answer today")),
        "agent-asks-to-skip" => Err(AgentError::skip("no model here")),
        "times-out" => std::future::pending().await,
        "long-answer" => Ok(format!("{}the end", "word ".repeat(1000))),
        "every-other-trial" if trial.index() % 2 == 1 => Ok("goodbye".to_owned()),
        "second-attempt" if attempt != "2" => Ok("not yet".to_owned()),
        _ => Ok(trial.prompt().to_owned()),
    }
}

fn panics(_: &Evidence<'_>) -> bool {
    panic!("the grader fell over")
}

fn undecided(_: &Evidence<'_>) -> Score {
    Score::undecided("nothing to go by")
}

evalsuite::include_eval_suite!("suites/by_task", graders = [panics, undecided]);
"#;

fn outcomes(name: &str) -> Package {
    let package = Package::new(name);
    let task = |path: &str, id: &str, more: &str, graders: &[&str]| {
        let graders = graders.join(",\n    ");
        let text = format!(
            "{{ \"id\": {id:?}, \"description\": \"A case.\", \"input\": {{ \"content\": \"hello\" }},{more}\n  \
             \"graders\": [\n    {graders}\n  ] }}\n"
        );
        package.write(&format!("suites/by_task/tasks/{path}.json"), &text);
    };
    let hello = r#"{ "name": "contains", "config": { "value": "hello" } }"#;
    let goodbye = r#"{ "name": "contains", "config": { "value": "goodbye" } }"#;
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library("")
        .write("tests/evals.rs", CODE)
        .write("suites/by_task/suite.json", suites::SUITE_JSON);
    task("positive/passes", "passes", "", &[hello]);
    task("positive/every_other", "every-other-trial", " \"trials_per_run\": 4,", &[hello]);
    task("negative/fails", "fails", " \"metadata\": { \"failure_bucket\": \"manners\" },", &[hello, goodbye]);
    task("negative/long", "long-answer", "", &[goodbye]);
    task("errors/agent_panics", "agent-panics", "", &[hello]);
    task("errors/agent_errs", "agent-errs", "", &[hello]);
    task("errors/times_out", "times-out", " \"timeout_seconds\": 0.2,", &[hello]);
    task("errors/grader_panics", "grader-panics", "", &[hello, r#"{ "name": "panics" }"#]);
    task("skipped/asks", "agent-asks-to-skip", "", &[hello]);
    task("undecided", "undecided", "", &[r#"{ "name": "undecided" }"#, hello]);
    task("retried/second", "second-attempt", "", &[hello]);
    package
}

/// Every test except `suite_check`: its name, the id of its case, and its outcome.
const OUTCOMES: [(&str, &str, &str); 11] = [
    ("positive::passes", "passes", "passed"),
    ("positive::every_other", "every-other-trial", "failed"),
    ("negative::fails", "fails", "failed"),
    ("negative::long", "long-answer", "failed"),
    ("errors::agent_panics", "agent-panics", "error"),
    ("errors::agent_errs", "agent-errs", "error"),
    ("errors::times_out", "times-out", "error"),
    ("errors::grader_panics", "grader-panics", "error"),
    ("skipped::asks", "agent-asks-to-skip", "skipped"),
    ("undecided", "undecided", "passed"),
    ("retried::second", "second-attempt", "failed"),
];

#[test]
fn cargo_test_reports_every_outcome_and_writes_a_record_for_each_trial() {
    let package = outcomes("outcomes");
    let ran = package.cargo(["test", "--no-fail-fast"]).run();
    assert_eq!(ran.code, Some(101), "cargo's exit code for failed tests\n{}", ran.transcript());
    for (test, _, outcome) in OUTCOMES {
        let end = if ["passed", "skipped"].contains(&outcome) { "ok" } else { "FAILED" };
        ran.says(&format!("test by_task::{test} ... {end}\n"));
    }
    ran.says("evalsuite: SKIPPED by_task::skipped::asks: no model here\n");
    failure_output::explains_every_failure(&ran, &package);

    assert_eq!(package.records().runs().len(), 1, "a test program is one run");
    records::are_complete(&package, "second-attempt");
    let latest = std::fs::read_to_string(package.records_directory().join("latest")).expect("`latest` can be read");
    assert_eq!(latest.trim(), package.records().runs()[0], "`latest` names the run");

    package.records().clear();
    let ran = package.cargo(["test", "negative"]).run().fails("the cases below negative/ fail");
    ran.says("2 failed").says("10 filtered out").is_silent_about("positive::");
    assert_eq!(package.records().results().len(), 2, "only what the filter chose was run");

    package.records().clear();
    let required = ["test", "--test", "evals", "skipped"];
    let ran = package.cargo(required).env("EVALSUITE_REQUIRE", "1").run().fails("a skip is an error");
    ran.says("evaluation error (").says("/required)").says("no model here");

    let one =
        |variable: &str, value: &str| package.cargo(["test", "--test", "evals", "passes"]).env(variable, value).run();
    one("EVALSUITE_TRIALS", "0")
        .fails("a setting is invalid")
        .says("evaluation error (setup/invalid_setting): EVALSUITE_TRIALS");
    let file = package.root().join("Cargo.toml/records");
    one("EVALSUITE_OUTPUT", &file.to_string_lossy())
        .fails("a record cannot be written")
        .says("evaluation error (setup")
        .says("Cargo.toml/records");

    package.records().clear();
    let list = package.cargo(["test", "--", "--list"]).run().succeeds("tests are listed");
    list.says("by_task::negative::fails: test");
    assert!(!package.records_directory().exists(), "nothing is written while tests are only listed");
}
