//! Loads and runs the suite of a record.

use std::collections::BTreeMap;
use std::num::ParseFloatError;
use std::path::{Path, PathBuf};

use evalsuite::__private::CompiledJson;
use evalsuite::record::{CaseRecord, GraderRecord, TrialRecord};
use evalsuite::{AgentError, EvalCase, EvalSuite, Evals, Evidence, Judge, Outcome, RunOptions, Trial};
use evalsuite_conformance::record::{Materialised, Record};
use evalsuite_loader::{Request, load};
use evalsuite_schema::diagnostics::{Code, Severity};

use crate::stub_judge::StubJudge;

/// The grader whose score is the answer, parsed as a number.
pub const RECORDED_SCORE: &str = "recorded-score";

/// The directory of the first trial in that of its case.
const FIRST_TRIAL: &str = "trial-000";

fn recorded_score(evidence: &Evidence<'_>) -> Result<f64, ParseFloatError> {
    evidence.answer().parse()
}

/// The result of running a record's suite.
#[derive(Debug)]
pub struct Replay {
    /// Codes of the loader's errors; if there are any, no case ran.
    pub refused: Vec<Code>,
    /// The cases that ran.
    pub cases: Vec<CaseRun>,
    /// The directory that `{ROOT}` is replaced by.
    pub root: PathBuf,
    _files: Materialised,
}

/// The result of a case.
#[derive(Debug)]
pub struct CaseRun {
    /// Its record.
    pub case: CaseRecord,
    /// The records of its trials.
    pub trials: Vec<TrialRecord>,
    /// The text of a failed test.
    pub shown: String,
    /// Standard output of the commands of the first trial, by the file that has it.
    pub outputs: BTreeMap<String, String>,
}

/// Standard output of the commands of graders and of their members.
fn outputs(graders: &[GraderRecord], trial: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for grader in graders {
        let file = grader.command.as_ref().and_then(|command| command.stdout.clone());
        let read = file.and_then(|file| std::fs::read(trial.join(&file)).ok().map(|bytes| (file, bytes)));
        found.extend(read.map(|(file, bytes)| (file, String::from_utf8_lossy(&bytes).into_owned())));
        found.extend(outputs(&grader.members, trial));
    }
    found
}

/// Loads and runs the suite of a record with an agent.
///
/// # Errors
///
/// What keeps the record from being tested.
pub fn run<F>(record: &Record, options: RunOptions, agent: F) -> Result<Replay, String>
where
    F: Fn(&mut Trial<'_>) -> Result<Outcome, AgentError> + Send + Sync + 'static,
{
    run_with_judge(record, options, agent, None::<&StubJudge>)
}

/// Loads and runs the suite of a record with an agent and a judge.
///
/// # Errors
///
/// What keeps the record from being tested.
pub fn run_with_judge<F, J>(record: &Record, options: RunOptions, agent: F, judge: Option<&J>) -> Result<Replay, String>
where
    J: Judge + Clone,
    F: Fn(&mut Trial<'_>) -> Result<Outcome, AgentError> + Send + Sync + 'static,
{
    let files = record.materialise()?;
    let root = files.root.clone();
    let eval = record.eval.clone().ok_or("the record has no suite")?;
    let mut request = Request::new(eval, root.clone());
    request.workspace_root.clone_from(&root);
    let loaded = load(&request);
    let errors = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error);
    let refused = errors.map(|diagnostic| diagnostic.code).collect();
    let Some(loaded) = loaded.suite else {
        return Ok(Replay { refused, cases: Vec::new(), root, _files: files });
    };
    let cases = loaded.cases.iter().map(|loaded| {
        let case = &loaded.case;
        Ok(EvalCase {
            id: case.id.clone().leak(),
            test_name: loaded.function.clone().leak(),
            file: case.location.file.clone().leak(),
            line: case.location.line,
            column: case.location.column,
            source: loaded.source.clone().leak(),
            target: None,
            tags: &[],
            json: CompiledJson::Text(serde_json::to_string(&**case).map_err(|error| error.to_string())?.leak()),
        })
    });
    let suite = EvalSuite {
        name: loaded.suite.name.clone().leak(),
        agent_name: None,
        module_path: "evals::suite",
        package: "records",
        package_version: "0.0.0",
        manifest_dir: root.display().to_string().leak(),
        root: loaded.suite.root.clone().leak(),
        json: CompiledJson::Text(serde_json::to_string(&loaded.suite).map_err(|error| error.to_string())?.leak()),
        sources: &[],
        diagnostics: &[],
        embedded: None,
        origin: None,
        calibration: None,
        cases: cases.collect::<Result<Vec<_>, String>>()?.leak(),
    };
    let records = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut evals =
        Evals::new(Box::leak(Box::new(suite))).with_agent(agent).with_grader(RECORDED_SCORE, recorded_score);
    if let Some(judge) = judge {
        evals = evals.with_judge(judge.clone()).with_named_judge("judge", judge.clone());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|error| error.to_string())?;
    let report =
        runtime.block_on(evals.run(&options.with_output(records.path()))).map_err(|error| error.to_string())?;
    if let Some(problem) = report.problems().first() {
        return Err(problem.clone());
    }
    let ran = |case: &evalsuite::CaseReport| CaseRun {
        case: case.record().clone(),
        trials: case.trials().to_vec(),
        shown: case.to_string(),
        outputs: case
            .trials()
            .first()
            .map_or_else(BTreeMap::new, |trial| outputs(&trial.graders, &case.directory().join(FIRST_TRIAL))),
    };
    let cases = report.cases().iter().map(ran).collect();
    Ok(Replay { refused, cases, root, _files: files })
}
