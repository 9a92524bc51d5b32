//! Recording, replaying and grading again, with the variables that users set.

use evalsuite_needs::needs;
use evalsuite_tests::throwaway::{Package, suites};

/// An agent that fails with `NO_AGENT`, to show that it is not called, and writes a file that the grader reads.
const LIB: &str = r#"
pub fn echo(trial: &mut evalsuite::Trial<'_>) -> Result<String, String> {
    if std::env::var_os("NO_AGENT").is_some() {
        return Err("the agent is called".to_owned());
    }
    std::fs::write(trial.workspace().join("answer.txt"), trial.prompt()).map_err(|error| error.to_string())?;
    Ok(format!("{} again", trial.prompt()))
}
"#;

const TESTS: &str = r#"
evalsuite::include_eval_suite!("suites/by_task", graders = [wrote]);
use PACKAGE::echo;

fn wrote(evidence: &evalsuite::Evidence<'_>) -> bool {
    std::fs::read_to_string(evidence.workspace().join("answer.txt")).is_ok_and(|text| text == "WANTED")
}
"#;

fn tests(package: &str, wanted: &str) -> String {
    TESTS.replace("PACKAGE", package).replace("WANTED", wanted)
}

fn task(asks: &str) -> String {
    format!(
        r#"{{ "id": "says", "description": "Says it again.", "input": {{ "content": {asks:?} }},
  "graders": [{{ "name": "contains", "config": {{ "value": "again" }} }}, {{ "name": "wrote" }}] }}"#
    )
}

fn package(name: &str, wanted: &str) -> Package {
    let package = Package::new(name);
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(LIB)
        .write("tests/evals.rs", &tests(name, wanted))
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/says.json", &task("hello"));
    package
}

#[test]
fn what_is_recorded_is_replayed_without_the_agent_until_the_input_changes() {
    let package = package("recorded", "hello");
    let replay = || package.cargo(["test", "--test", "evals"]).env("EVALSUITE_MODE", "replay").env("NO_AGENT", "1");
    replay()
        .run()
        .fails("there is no recording yet")
        .says("recording_missing")
        .says("EVALSUITE_MODE=record cargo test -p recorded -- --exact by_task::says");
    package.cargo(["test", "--test", "evals"]).env("EVALSUITE_MODE", "record").run().succeeds("the trial is recorded");
    let cassettes = package.root().join(".evalsuite/cassettes");
    assert!(cassettes.is_dir(), "expected cassettes below the package");
    let replayed = replay().run();
    replayed.succeeds("the recorded answer and file pass").says("does not run the agent");
    let build = package.build(["--test", "evals"]).succeeds("nothing changed");
    assert_eq!(build.rebuilt(), [] as [&str; 0], "cassettes are not inputs of the build");

    package.write("suites/by_task/tasks/says.json", &task("goodbye"));
    replay().run().fails("the input has changed").says("recording_stale").says("-hello").says("+goodbye");
    package.write("suites/by_task/tasks/says.json", &task("hello"));
    package.write("tests/evals.rs", &tests("recorded", "other"));
    replay().run().fails("the current grader rejects the recorded file").says("evaluation failed");
    let into_suite = package.cargo(["test", "--test", "evals"]).env("EVALSUITE_MODE", "record");
    into_suite
        .env("EVALSUITE_CASSETTES", package.root().join("suites/by_task/cassettes"))
        .run()
        .fails("cassettes cannot be written below a suite")
        .says("EVALSUITE_CASSETTES");
    assert!(!package.root().join("suites/by_task/cassettes").exists());
}

#[needs(nextest)]
#[test]
fn an_earlier_run_is_graded_again_by_the_current_graders() {
    let package = package("regraded", "other");
    package.cargo(["test", "--test", "evals"]).run().fails("the grader wants something else");
    package.write("tests/evals.rs", &tests("regraded", "hello"));
    let regrade = |run: &str, more: &[&str]| {
        package.cargo(more.iter().copied()).env("EVALSUITE_REGRADE", run).env("NO_AGENT", "1").run()
    };
    regrade("latest", &["test", "--test", "evals"]).succeeds("the grader wants what was written");
    // The newest run graded an earlier run, whose trials are still there.
    regrade("latest", &["test", "--test", "evals"]).succeeds("and again");
    regrade("latest", &["nextest", "run", "--test", "evals"]).succeeds("in a process per test");
    regrade("no-such-run", &["test", "--test", "evals"]).fails("there is no such run").says("no-such-run");
    let results = package.records().of_case("says");
    let regraded = results.iter().filter(|result| result["mode"] == "regrade" && result["outcome"] == "passed");
    assert!(regraded.clone().count() >= 2, "{results:?}");
    assert!(regraded.into_iter().all(|result| result["answer"] == "hello again"));
}
