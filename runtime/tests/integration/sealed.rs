//! Sealed commands of trials, and what their records say. What a seal refuses is in `platform/sealed/tests.rs`.

use std::fs;
use std::path::Path;

use evalsuite::record::{ReasonCode, SealRecord, Stage};
use evalsuite::{CliAgents, EvalSuite, Evals, RunOptions, Status};
use evalsuite_schema::json::{Value, json};

use crate::calibration;
use crate::common::{case_json, contains, grader, only, run, run_with, suite_with};

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
    let off = SealRecord::off();
    assert_eq!((only(&report).status(), only(&report).trials()[0].sealed.as_ref()), (Status::Passed, Some(&off)));
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
    assert_eq!(trial.sealed, Some(SealRecord::off()), "the agent is not sealed");
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

/// Whether this system can seal.
fn can_seal() -> bool {
    let directory = tempfile::tempdir().unwrap();
    let target = format!("{AGENT}    sealed: auto\n");
    let evals = Evals::new(package(directory.path(), &target, json!({}), json!({}))).with_agent(CliAgents);
    let report = run(&evals, &directory.path().join("out"));
    is_sealed(only(&report).trials()[0].sealed.as_ref())
}

/// Succeeds if it can read a file of the suite that it does not name.
const READS_SUITE: &str = "cat $EVALSUITE_SUITE_DIR/$(echo secret).txt >/dev/null 2>&1";

fn code_grader(script: &str) -> Value {
    grader("code", 8, json!({"code-grader": {"run": {"command": {"shell": script}}, "config": {}}}))
}

#[test]
fn a_command_that_is_not_to_be_sealed_is_recorded_as_such() {
    let directory = tempfile::tempdir().unwrap();
    let hook = json!({"command": {"shell": "true"}, "timeout_ms": 9_000});
    let more = json!({
        "graders": [code_grader(READS_SUITE), contains("done")],
        "case": {"workspace": {"hooks": {"before_each": hook}}},
    });
    let evals = Evals::new(package(directory.path(), AGENT, more, json!({}))).with_agent(CliAgents);
    let report = run(&evals, &directory.path().join("out"));
    let trial = &only(&report).trials()[0];
    assert_eq!(trial.outcome, Status::Passed, "{}", only(&report));
    let off = Some(SealRecord::off());
    assert_eq!(trial.sealed, off);
    assert_eq!(trial.hooks[0].sealed, off);
    assert_eq!(trial.graders[0].command.as_ref().unwrap().sealed, off);
    let agent = |_: &mut evalsuite::Trial<'_>| Ok::<_, evalsuite::AgentError>("done".to_owned());
    let evals = Evals::new(package(directory.path(), AGENT, json!({}), json!({}))).with_agent(agent);
    let report = run(&evals, &directory.path().join("out"));
    assert_eq!(only(&report).trials()[0].sealed, None, "no command was started");
}

#[test]
fn the_default_of_the_suite_holds_for_graders_of_trials_that_are_graded_again() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("out");
    let graded = |suite: Value, options: RunOptions| {
        let more = json!({"graders": [code_grader(READS_SUITE)]});
        let evals = Evals::new(package(directory.path(), AGENT, more, suite)).with_agent(CliAgents);
        only(&run_with(&evals, &output, options)).clone()
    };
    let live = graded(json!({}), RunOptions::new());
    assert_eq!(live.status(), Status::Passed, "{live}");
    let again = graded(json!({"sealed": "auto"}), RunOptions::new().with_regrade("latest"));
    let trial = &again.trials()[0];
    assert_eq!(trial.sealed, None, "its agent is not started");
    if is_sealed(trial.graders[0].command.as_ref().unwrap().sealed.as_ref()) {
        assert_eq!(again.status(), Status::Failed, "{again}");
    }
}

#[test]
fn the_default_of_the_suite_holds_for_examples_of_graders() {
    let graded = std::panic::catch_unwind(|| {
        evalsuite::__private::grader_examples(|| {
            let mut code = code_grader(READS_SUITE);
            let location = json!({"file": "suites/x/EVAL.yaml", "line": 9, "column": 3});
            code["examples"] = json!({"fail": [{"answer": "done", "location": location}]});
            let directory = tempfile::tempdir().unwrap().keep();
            Evals::new(package(&directory, AGENT, json!({"graders": [code]}), json!({"sealed": "auto"})))
        });
    });
    assert_eq!(graded.is_ok(), can_seal(), "a sealed grader cannot read the suite");
}

#[test]
fn the_default_of_the_suite_holds_for_commands_that_write_prompts_of_calibrations() {
    let directory = tempfile::tempdir().unwrap();
    let script = format!("{READS_SUITE} && echo worth 1 || echo worth 0");
    let prompt = json!({"command": {"run": {"command": {"shell": script}}}});
    let judge = grader("tone", 9, json!({"llm-grader": {"prompt": prompt}}));
    let sample = json!({
        "id": "a",
        "location": {"file": "suites/x/calibration.yaml", "line": 3, "column": 5},
        "case": case_json("greets", json!([judge]), json!({"criteria": "is polite"})),
        "output": "good",
        "human_score": 0.0,
    });
    let suite = package(directory.path(), AGENT, json!({}), json!({"sealed": "auto"}));
    let text = calibration::calibration(json!({}), json!([sample])).to_string().leak();
    let suite: &'static EvalSuite = Box::leak(Box::new(EvalSuite { calibration: Some(text), ..*suite }));
    let evals = Evals::new(suite).with_judge(calibration::fair);
    let report = calibration::calibrate(&evals, directory.path(), RunOptions::new()).unwrap();
    let expected = if can_seal() { 0.0 } else { 1.0 };
    let sample = &report.record().samples[0];
    assert_eq!(sample.judge_score, Some(expected), "{sample:?}");
}

#[test]
fn a_command_that_judges_is_sealed_as_a_command_that_answers() {
    for (own, suite) in [("sealed: auto", json!({})), ("sealed: required", json!({})), ("", json!({"sealed": "auto"}))]
    {
        let directory = tempfile::tempdir().unwrap();
        let judge = grader("tone", 5, json!({"llm-grader": {"judge": {"target": "strict"}}}));
        let more = json!({"graders": [judge], "case": {"criteria": "is polite"}});
        let command =
            format!("{READS_SUITE} && echo worth 1 > {{OUTPUT_FILE}} || echo '{{\"score\": 0.9}}' > {{OUTPUT_FILE}}");
        let target = format!(
            "{AGENT}    sealed: off\n  - name: strict\n    provider: cli\n    command: {command:?}\n    {own}\n"
        );
        let evals = Evals::new(package(directory.path(), &target, more, suite)).with_agent(CliAgents);
        let report = run(&evals.with_command_judges(), &directory.path().join("out"));
        let case = only(&report);
        let record = case.trials()[0].graders[0].judge.as_ref().unwrap_or_else(|| panic!("{case}"));
        if is_sealed(record.sealed.as_ref()) {
            assert_eq!(case.status(), Status::Passed, "{case}");
        }
    }
}
