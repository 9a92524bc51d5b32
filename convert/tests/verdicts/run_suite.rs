//! Runs a suite that was loaded, in this process.

use std::path::Path;

use evalsuite::__private::CompiledJson;
use evalsuite::record::Status;
use evalsuite::{AgentError, EvalCase, EvalSuite, Evals, Outcome, RunOptions, Trial};
use evalsuite_loader::LoadedSuite;

/// What answers the cases.
pub(crate) type Agent = fn(&mut Trial<'_>) -> Result<Outcome, AgentError>;

/// The outcomes of all cases in order: id, `+` or `-`, and what a failed test says. An error is neither.
pub(crate) fn run(loaded: &LoadedSuite, root: &Path, agent: Agent) -> Vec<(String, char, String)> {
    let cases: Vec<EvalCase> = loaded
        .cases
        .iter()
        .map(|loaded| EvalCase {
            id: loaded.case.id.clone().leak(),
            test_name: loaded.function.clone().leak(),
            file: loaded.case.location.file.clone().leak(),
            line: loaded.case.location.line,
            column: loaded.case.location.column,
            source: loaded.source.clone().leak(),
            target: None,
            tags: &[],
            json: CompiledJson::Text(serde_json::to_string(&*loaded.case).unwrap().leak()),
        })
        .collect();
    let suite = EvalSuite {
        name: loaded.suite.name.clone().leak(),
        agent_name: None,
        module_path: "evals::suite",
        package: "verdicts",
        package_version: "0.0.0",
        manifest_dir: root.display().to_string().leak(),
        root: loaded.suite.root.clone().leak(),
        json: CompiledJson::Text(serde_json::to_string(&loaded.suite).unwrap().leak()),
        sources: &[],
        diagnostics: &[],
        embedded: None,
        origin: None,
        calibration: None,
        cases: cases.leak(),
    };
    let records = tempfile::tempdir().unwrap();
    let evals = Evals::new(Box::leak(Box::new(suite))).with_agent(agent);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let report = runtime.block_on(evals.run(&RunOptions::new().with_output(records.path()))).unwrap();
    assert_eq!(report.problems(), Vec::<String>::new());
    let outcome = |case: &evalsuite::CaseReport| {
        let outcome = match case.record().outcome {
            Status::Passed => '+',
            Status::Failed => '-',
            _ => '?',
        };
        (case.record().case_id.clone(), outcome, case.to_string())
    };
    report.cases().iter().map(outcome).collect()
}
