//! A trial in which evalsuite itself panics.

use std::{fs, path::Path, sync::Arc};

use evalsuite_schema::record::{CaseOutcome, ReasonCode};
use serde_json::{Value, json};

use crate::{
    model::{
        agent::{Bound, BoundAgent, IntoAgent, Run},
        evals::Evals,
        outcome::{AgentError, Outcome},
        suite::{EvalCase, EvalSuite},
        suite_location::SuiteLocation,
        trial::Trial,
    },
    platform::cancel::Cancel,
    record::run_directory::RunDirectory,
    run::{
        run_case,
        settings::{Runner, Settings},
    },
};

/// An agent whose adapter panics outside the agent's own thread.
struct PanickingAdapter;

struct Marker;

impl Run for PanickingAdapter {
    fn run(&self, _: &mut Trial<'_>, _: &Cancel) -> Result<Outcome, AgentError> {
        Err(AgentError::new("never called"))
    }

    fn is_cooperative(&self) -> bool {
        panic!("index out of bounds")
    }

    fn name(&self) -> String {
        "panicking".to_owned()
    }
}

impl IntoAgent<Marker> for PanickingAdapter {
    fn into_agent(self) -> BoundAgent {
        BoundAgent(Bound::Rust(Arc::new(self)))
    }
}

fn suite(root: &Path) -> &'static EvalSuite {
    let location = json!({"file": "suites/x/suite.json", "line": 1, "column": 1});
    let suite = json!({"name": "x", "layout": "cases", "kind": "mixed", "location": location, "root": "suites/x"});
    let input = json!({"messages": [{"role": "user", "content": {"text": "say hello"}}]});
    let after = json!({"command": {"shell": "echo over"}, "timeout_ms": 60_000, "reset": "none"});
    let workspace = json!({"hooks": {"after_each": after}});
    let grader = json!({"name": "g", "location": location, "config": "is-json"});
    let case = json!({"id": "c", "location": location, "input": input, "graders": [grader], "workspace": workspace});
    let leaked = |value: Value| -> &'static str { value.to_string().leak() };
    let case = EvalCase {
        id: "c",
        test_name: "c",
        file: "suites/x/suite.json",
        line: 1,
        column: 1,
        source: "suite.json",
        target: None,
        tags: &[],
        json: leaked(case),
    };
    Box::leak(Box::new(EvalSuite {
        name: "x",
        agent_name: None,
        module_path: "evals::x",
        package: "demo",
        package_version: "1.2.3",
        manifest_dir: root.display().to_string().leak(),
        root: "suites/x",
        json: leaked(suite),
        sources: &[],
        diagnostics: &[],
        embedded: None,
        calibration: None,
        cases: Box::leak(Box::new([case])),
    }))
}

#[test]
fn a_panic_in_a_phase_still_leaves_hooks_and_a_record() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("suites/x")).unwrap();
    let suite = suite(root.path());
    let evals = Evals::new(suite).agent(PanickingAdapter);
    let settings =
        Settings { runner: Runner { attempt: 1, total_attempts: 1, ..Runner::default() }, ..Settings::default() };
    let run = RunDirectory::new(Some(&root.path().join("out")), &SuiteLocation::of(suite), "r".into()).unwrap();
    let report = run_case(&evals, &suite.cases[0], &settings, &run).unwrap();
    let record = &report.trials()[0];
    let reason = record.reason.as_ref().unwrap();
    assert_eq!((record.outcome, reason.code), (CaseOutcome::Error, ReasonCode::ProcessDied));
    assert!(reason.message.ends_with("index out of bounds"), "{}", reason.message);
    assert_eq!((record.hooks.len(), record.hooks[0].name.as_str()), (1, "after_each"));
    assert!(record.workspace.as_ref().is_some_and(|workspace| workspace.kept) && record.trajectory.is_none());
    assert!(report.directory().join("trial-000/result.json").is_file());
}
