//! Run directories of made-up agents.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_records::record::{
    CaseRecord, GitState, Rule, RunRecord, Status, SuiteRecord, SuiteRun, SuiteTest, TrialRecord, TrialSummary,
};
use evalsuite_schema::json::ToJson;

use super::agent::Trials;

/// A case with its trials.
#[derive(Debug, Clone, Default)]
pub(crate) struct Case {
    /// Whether each planned trial passed.
    pub(crate) trials: Vec<bool>,
    /// The scores of these trials, if they are not 1 and 0.
    pub(crate) scores: Vec<f64>,
    /// Whether the run has no record of the case.
    pub(crate) is_missing: bool,
    /// Number of further planned trials, which ended in an error.
    pub(crate) errors: usize,
    /// Whether each trial passed that repeated the case.
    pub(crate) confirming: Vec<bool>,
    /// Its values of the keys `group` and `part` of the metadata.
    pub(crate) group: Option<[usize; 2]>,
    /// The answer of its trials.
    pub(crate) answer: Option<&'static str>,
}

impl Case {
    pub(crate) fn new(trials: Vec<bool>) -> Self {
        Self { trials, ..Self::default() }
    }

    /// With trials of these scores, which pass from a threshold on.
    pub(crate) fn scored(scores: Vec<f64>, threshold: f64) -> Self {
        Self { trials: scores.iter().map(|score| *score >= threshold).collect(), scores, ..Self::default() }
    }
}

/// Writes a run of a suite, outside of a repository.
pub(crate) fn write_run(output: &Path, id: &str, trials: Trials, cases: &[Case]) {
    write_run_of(output, id, None, trials, cases);
}

/// Writes a run of a suite at a commit, without changed files.
pub(crate) fn write_run_of(output: &Path, id: &str, commit: Option<&str>, trials: Trials, cases: &[Case]) {
    SuiteFiles { output, id, name: "simulated", package: "" }.write(trials, cases, |_| ());
    write_record(output, id, commit, &["simulated"]);
}

/// Writes the record of a run of these suites.
pub(crate) fn write_record(output: &Path, id: &str, commit: Option<&str>, suites: &[&str]) {
    let mut run = RunRecord::new();
    run.run_id = id.to_owned();
    run.started_at = "2026-11-22T14:25:50.464Z".to_owned();
    run.git = commit.map(|commit| GitState::new(commit, false));
    run.suites = suites.iter().map(|suite| SuiteRun::new(*suite, *suite, 1)).collect();
    write(&output.join("runs").join(id).join("run.json"), &run);
}

/// A suite of a run.
pub(crate) struct SuiteFiles<'a> {
    pub(crate) output: &'a Path,
    /// Id of the run.
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    /// The package of the suite; empty if none is needed.
    pub(crate) package: &'a str,
}

impl SuiteFiles<'_> {
    pub(crate) fn directory(&self) -> PathBuf {
        self.output.join("runs").join(self.id).join("suites").join(self.name)
    }

    /// Writes the suite, with records that are completed first; returns these.
    pub(crate) fn write(&self, trials: Trials, cases: &[Case], complete: impl Fn(&mut CaseRecord)) -> Vec<CaseRecord> {
        let Self { id, name, package, .. } = *self;
        let suite = self.directory();
        let mut suite_record = SuiteRecord::new();
        suite_record.name = name.to_owned();
        suite_record.package = package.to_owned();
        let mut records = Vec::new();
        for (number, case) in cases.iter().enumerate().filter(|(_, case)| !case.is_missing) {
            let mut record = case_record(number, case, trials);
            (record.run_id, record.suite) = (id.to_owned(), name.to_owned());
            complete(&mut record);
            suite_record.tests.push(SuiteTest::new("simulated", &record.test_name, &record.case_id));
            let directory = suite.join("cases").join(&record.case_key);
            write(&directory.join("case.json"), &record);
            if case.group.is_some() || case.answer.is_some() {
                let mut trial = TrialRecord::of_case(&record);
                trial.answer = case.answer.map(str::to_owned);
                for (key, value) in case.group.iter().flat_map(|[group, part]| [("group", group), ("part", part)]) {
                    trial.metadata.insert(key.to_owned(), value.to_string().into());
                }
                for summary in &record.trials {
                    write(&directory.join(&summary.path), &trial);
                }
            }
            records.push(record);
        }
        write(&suite.join("suite.json"), &suite_record);
        records
    }
}

fn case_record(number: usize, case: &Case, trials: Trials) -> CaseRecord {
    let mut record = CaseRecord::new();
    record.case_id = format!("case-{number:03}");
    record.case_key = format!("case-{number:03}-00000000");
    record.case_digest = format!("{number:064x}");
    record.input_digest = record.case_digest.clone();
    record.grader_digest = record.case_digest.clone();
    record.test_name = format!("simulated::case_{number:03}");
    record.target = "default".to_owned();
    record.runner_attempt = 1;
    (record.rule, record.stops_early) = match trials {
        Trials::All(_) => (Rule::Any, false),
        Trials::UntilPass(planned) => (Rule::Any, planned > 1),
        Trials::UntilFailure(planned) => (Rule::Every, planned > 1),
    };
    let count = |passes: bool| case.trials.iter().filter(|trial| **trial == passes).count() as u32;
    let (passed, failed) = (count(true), count(false));
    record.outcome = match record.rule {
        Rule::Every if failed > 0 => Status::Failed,
        _ if case.errors > 0 => Status::Error,
        _ if passed > 0 => Status::Passed,
        _ => Status::Failed,
    };
    (record.passed, record.completed, record.planned) = (passed, passed + failed, trials.planned() as u32);
    record.errors = case.errors as u32;
    record.truncated = record.completed + record.errors < record.planned;
    record.trials = case.trials.iter().enumerate().map(|(index, passes)| summary(index, *passes)).collect();
    record.trials.iter_mut().zip(&case.scores).for_each(|(trial, score)| trial.score = Some(*score));
    let sum = record.trials.iter().filter_map(|trial| trial.score).sum::<f64>();
    record.mean = (record.completed > 0).then(|| sum / f64::from(record.completed));
    record.trials.extend((case.trials.len()..case.trials.len() + case.errors).map(error));
    let first = record.trials.len();
    record.confirming =
        case.confirming.iter().enumerate().map(|(index, passes)| summary(first + index, *passes)).collect();
    record
}

fn summary(index: usize, passes: bool) -> TrialSummary {
    let mut summary = TrialSummary::default();
    summary.index = index as u32;
    summary.outcome = if passes { Status::Passed } else { Status::Failed };
    summary.score = Some(f64::from(u8::from(passes)));
    summary.path = format!("trial-{index:03}/result.json");
    summary
}

fn error(index: usize) -> TrialSummary {
    let mut error = summary(index, false);
    (error.outcome, error.score) = (Status::Error, None);
    error
}

pub(crate) fn write(file: &Path, record: &dyn ToJson) {
    fs::create_dir_all(file.parent().expect("it is in a directory")).expect("the directory can be made");
    let text = evalsuite_schema::json::to_string(record).expect("records are JSON");
    fs::write(file, text).expect("the file can be written");
}
