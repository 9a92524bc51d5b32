//! Sealed commands of trials, and what their records say. What a seal refuses is in `platform/sealed/tests.rs`.

use std::fs;
use std::path::Path;

use evalsuite::record::{ReasonCode, SealRecord, Stage};
use evalsuite::{CliAgents, EvalSuite, Evals, Status};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run, suite_with};

/// A package with a command as its agent, and a suite with one case that says more.
fn package(directory: &Path, target: &str, more: Value, suite: Value) -> &'static EvalSuite {
    fs::create_dir_all(directory.join("suites/x")).unwrap();
    fs::write(directory.join("suites/x/secret.txt"), "secret\n").unwrap();
    fs::write(directory.join("targets.yaml"), format!("targets:\n  - name: default\n    provider: cli\n{target}"))
        .unwrap();
    let graders = more["graders"].clone();
    let graders = if graders.is_null() { json!([contains("done")]) } else { graders };
    suite_with("cases", "mixed", directory, &[case_json("a", graders, more["case"].clone())], suite)
}

/// Whether the kernel sealed it; if not, the record has to say why.
#[track_caller]
fn is_sealed(seal: Option<&SealRecord>) -> bool {
    let seal = seal.expect("a command that is to be sealed has a record of it");
    if !seal.is_sealed() {
        assert!(seal.reason.is_some(), "{seal:?}");
        eprintln!("NOT SEALED: {}", seal.text());
    }
    seal.is_sealed()
}

const AGENT: &str = "    command: \"cat $EVALSUITE_SUITE_DIR/secret.txt >&2; echo done > {OUTPUT_FILE}\"\n";
/// The file is not named by the command.
const READER: &str = "    command: \"cd $EVALSUITE_SUITE_DIR && cat < $(echo secret).txt > {OUTPUT_FILE}\"\n";

#[test]
fn a_command_is_sealed_where_its_target_or_its_suite_says_so() {
    for (target, suite) in
        [(format!("{READER}    sealed: auto\n"), json!({})), (READER.to_owned(), json!({"sealed": "auto"}))]
    {
        let directory = tempfile::tempdir().unwrap();
        let evals = Evals::new(package(directory.path(), &target, json!({}), suite)).with_agent(CliAgents);
        let report = run(&evals, &directory.path().join("out"));
        let trial = &only(&report).trials()[0];
        if is_sealed(trial.sealed.as_ref()) {
            assert_eq!(trial.outcome, Status::Error, "{trial:?}");
            let message = &trial.reason.as_ref().unwrap().message;
            assert!(message.to_lowercase().contains("permission denied"), "{message}");
            let seal = trial.sealed.as_ref().unwrap();
            assert!(seal.covered.iter().any(|word| word == "files") && seal.network == "all", "{seal:?}");
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let off = format!("{AGENT}    sealed: off\n");
    let evals = Evals::new(package(directory.path(), &off, json!({}), json!({"sealed": "auto"}))).with_agent(CliAgents);
    let report = run(&evals, &directory.path().join("out"));
    assert_eq!((only(&report).status(), only(&report).trials()[0].sealed.as_ref()), (Status::Passed, None));
}

#[test]
fn files_that_the_command_names_and_its_answer_are_open() {
    let directory = tempfile::tempdir().unwrap();
    let target = format!("{AGENT}    sealed: auto\n    network: none\n");
    let evals = Evals::new(package(directory.path(), &target, json!({}), json!({}))).with_agent(CliAgents);
    let report = run(&evals, &directory.path().join("out"));
    let case = only(&report);
    assert_eq!(case.status(), Status::Passed, "{case}");
    is_sealed(case.trials()[0].sealed.as_ref());
    let stderr = fs::read_to_string(case.directory().join("trial-000/agent/stderr.txt")).unwrap();
    assert_eq!(stderr, "secret\n");
}

#[test]
fn code_graders_and_hooks_have_seals_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let script = "! cat $(echo secret).txt && echo '{\"score\": 1}'";
    let command = json!({"command": {"shell": script}});
    let code = grader("code", 8, json!({"code-grader": {"run": command, "config": {}, "sealing": {"sealed": "auto"}}}));
    let hook = json!({"command": {"shell": "echo x > {{workspace_path}}/from-hook"}, "timeout_ms": 9_000, "sealing": {"sealed": "auto"}});
    let more = json!({"graders": [code, contains("done")], "case": {"workspace": {"hooks": {"before_each": hook}}}});
    let evals = Evals::new(package(directory.path(), AGENT, more, json!({}))).with_agent(CliAgents);
    let report = run(&evals, &directory.path().join("out"));
    let case = only(&report);
    let trial = &case.trials()[0];
    assert_eq!(trial.sealed, None, "the agent is not sealed");
    is_sealed(trial.hooks[0].sealed.as_ref());
    let command = trial.graders[0].command.as_ref().unwrap();
    if is_sealed(command.sealed.as_ref()) {
        assert_eq!(case.status(), Status::Passed, "{case}");
    }
}

#[test]
fn an_agent_in_rust_cannot_be_sealed() {
    let agent = || "done".to_owned();
    let report = |mode: &str| {
        let directory = tempfile::tempdir().unwrap();
        let suite = package(directory.path(), AGENT, json!({}), json!({"sealed": mode}));
        let evals =
            Evals::new(suite).with_agent(move |_: &mut evalsuite::Trial<'_>| Ok::<_, evalsuite::AgentError>(agent()));
        run(&evals, &directory.path().join("out"))
    };
    let auto = report("auto");
    let seal = only(&auto).trials()[0].sealed.as_ref().unwrap();
    assert_eq!(only(&auto).status(), Status::Passed, "{}", only(&auto));
    assert!(seal.text().starts_with("unsealed: the agent runs in the test program"), "{seal:?}");
    let required = report("required");
    let trial = &only(&required).trials()[0];
    let reason = trial.reason.as_ref().unwrap();
    assert_eq!((reason.stage, reason.code), (Stage::Setup, ReasonCode::NotSealed), "{reason:?}");
    assert!(!trial.sealed.as_ref().unwrap().is_sealed() && trial.answer.is_none());
}

#[test]
fn a_path_that_is_not_there_is_an_error_and_no_trial_without_a_seal() {
    let directory = tempfile::tempdir().unwrap();
    let target = format!("{AGENT}    sealed: auto\n    read: [/no/such/path]\n");
    let evals = Evals::new(package(directory.path(), &target, json!({}), json!({}))).with_agent(CliAgents);
    let report = run(&evals, &directory.path().join("out"));
    let trial = &only(&report).trials()[0];
    if is_sealed(trial.sealed.as_ref()) {
        let message = &trial.reason.as_ref().unwrap().message;
        assert!(message.contains("cannot be sealed") && message.contains("/no/such/path"), "{message}");
    }
}
