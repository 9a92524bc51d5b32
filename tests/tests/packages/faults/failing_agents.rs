//! Agents and graders that panic, hang, and leave programs behind.

use std::time::{Duration, Instant};

use evalsuite_needs::needs;
use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Package, suites};

use super::leftover_programs;

const CODE: &str = r#"
use evalsuite::{AgentError, Evidence, Trial};

fn echo(trial: &mut Trial<'_>) -> Result<String, AgentError> {
    let shell = |trial: &Trial<'_>, script: &str| trial.command("sh").args(["-c", script]).output();
    match trial.case_id() {
        "panics" => panic!("the agent fell over"),
        "hangs" => loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        },
        "ignores-term" => drop(shell(trial, "trap '' TERM; while :; do sleep 0.2; done")),
        "forks" => drop(shell(trial, "sleep 1000 & (sleep 1000 & sleep 1000) & wait")),
        "leaves-behind" => drop(shell(trial, "sleep 1000 >/dev/null 2>&1 & true")),
        "spawns" => drop(trial.command("sleep").arg("1000").spawn()),
        _ => {}
    }
    Ok(trial.prompt().to_owned())
}

fn panics(_: &Evidence<'_>) -> bool {
    panic!("the grader fell over")
}

evalsuite::include_eval_suite!("suites/faults", agent = echo, graders = [panics]);
"#;

/// The cases: id, further settings, grader, outcome, and code of the reason.
const CASES: [(&str, &str, &str, &str, &str); 10] = [
    ("good", "", "", "passed", ""),
    ("panics", "", "", "error", "agent_panic"),
    ("hangs", "execution: { timeout_seconds: 0.3 }", "", "error", "timeout"),
    ("ignores-term", "execution: { timeout_seconds: 0.3 }", "", "error", "timeout"),
    ("forks", "execution: { timeout_seconds: 0.3 }", "", "error", "timeout"),
    ("leaves-behind", "", "", "passed", ""),
    ("spawns", "", "", "passed", ""),
    ("grader-panics", "", "{ type: panics }", "error", "grader_error"),
    ("grader-crashes", "", "{ type: code-grader, command: 'kill -9 $$' }", "error", "grader_error"),
    (
        "grader-hangs",
        "",
        "{ type: code-grader, command: \"trap '' TERM; sleep 1000 & sleep 1000\", timeout_seconds: 0.3 }",
        "error",
        "grader_error",
    ),
];

fn package() -> Package {
    let package = suites::package_with_suite("faults", "faults", CODE);
    for (id, more, grader, ..) in CASES {
        let grader = if grader.is_empty() { String::new() } else { format!("  - {grader}\n") };
        let case = format!("input: hello\n{more}\nassertions:\n  - {{ type: contains, value: hello }}\n{grader}");
        package.write(&format!("suites/faults/cases/{id}/case.yaml"), &case);
    }
    package
}

#[needs(nextest)]
#[test]
fn every_fault_is_an_error_of_its_case_only_and_leaves_no_program_behind() {
    let package = package();
    let mut calls = vec![package.cargo(["test", "--no-fail-fast"])];
    calls.push(package.cargo(["nextest", "run", "--no-fail-fast"]));
    for call in calls {
        package.records().clear();
        let started = Instant::now();
        let ran = call.run().fails("some cases are errors");
        assert!(started.elapsed() < Duration::from_secs(500), "expected the run not to wait for hanging agents");
        for (id, _, _, outcome, code) in CASES {
            let results = package.records().of_case(id);
            assert_eq!(results.len(), 1, "one record of {id}\n{}", ran.transcript());
            let reason = match &results[0]["reason"] {
                Value::Null => "",
                reason => reason["code"].as_str().unwrap_or_default(),
            };
            let expected = (outcome, code);
            assert_eq!((results[0]["outcome"].as_str().unwrap_or_default(), reason), expected, "{id}\n{}", results[0]);
        }
        leftover_programs::have_ended(package.records_directory());
    }
}
