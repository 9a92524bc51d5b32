//! Baselines in the shape of a run, to compare runs with.

use std::path::PathBuf;

use evalsuite_records::record::{
    AcceptedAnswers, Baseline, BaselineCase, CaseRecord, PassState, Status, TrialRecord, TrialSummary,
};
use evalsuite_records::run_directory::CaseDirectoryName;

use crate::run_data::{CaseData, RunData, SuiteData, TrialData};

/// The accepted results as cases of a run without files.
pub(super) fn as_run(baselines: &[Baseline]) -> RunData {
    let suite = |baseline: &Baseline| SuiteData {
        name: baseline.header.suite.clone(),
        cases: baseline.cases.iter().map(|case| self::case(&baseline.header.suite, case)).collect(),
        ..SuiteData::default()
    };
    RunData { run_id: "the baseline".to_owned(), suites: baselines.iter().map(suite).collect(), ..RunData::default() }
}

/// The accepted results whose trials are known in the order in which they ran, as a run. Lines of older versions only have a mean, which cannot be
/// compared trial by trial.
pub fn trials_of_baselines(baselines: &[Baseline]) -> RunData {
    let mut ordered = baselines.to_vec();
    ordered.iter_mut().for_each(|baseline| baseline.cases.retain(|case| !case.outcomes.is_empty()));
    as_run(&ordered)
}

/// The same, with a trial for each accepted answer to the input that the baseline has.
pub(super) fn as_run_with_answers(baselines: &[Baseline], answers: &[AcceptedAnswers]) -> RunData {
    let mut run = as_run(baselines);
    for suite in &mut run.suites {
        let Some(answers) = answers.iter().find(|answers| answers.header.suite == suite.name) else { continue };
        for case in &mut suite.cases {
            let answer = answers.find(&case.record.case_id, &case.record.target);
            let trial = answer.filter(|answer| answer.input == case.record.input_digest).map(|answer| {
                let mut record = TrialRecord::default();
                record.answer = Some(answer.answer.clone());
                TrialData { directory: PathBuf::new(), record }
            });
            case.trials.extend(trial);
        }
    }
    run
}

fn case(suite: &str, case: &BaselineCase) -> CaseData {
    let mut record = CaseRecord::new();
    record.suite = suite.to_owned();
    record.case_id.clone_from(&case.case);
    record.target.clone_from(&case.target);
    record.input_digest.clone_from(&case.input);
    record.grader_digest.clone_from(&case.graders);
    record.outcome = if case.state() == PassState::Fails { Status::Failed } else { Status::Passed };
    (record.passed, record.completed, record.planned) = (case.passed, case.trials, case.trials);
    record.stops_early = case.stops_early;
    record.trials = trials(case);
    let name = CaseDirectoryName::parse(&record.case_id);
    CaseData { name, directory: PathBuf::new(), record, trials: Vec::new(), earlier: Vec::new(), of_runs: Vec::new() }
}

/// The planned trials of a case. Older files have neither their order nor their scores, but how many passed and the mean.
fn trials(case: &BaselineCase) -> Vec<TrialSummary> {
    let passed = (0..case.trials).map(|index| if index < case.passed { 'P' } else { 'F' });
    let outcomes = if case.outcomes.is_empty() { passed.collect() } else { case.outcomes.clone() };
    let trial = |(index, outcome): (usize, char)| {
        let mut trial = TrialSummary::default();
        trial.outcome = if outcome == 'P' { Status::Passed } else { Status::Failed };
        trial.score = case.scores.get(index).copied().or(case.score);
        trial
    };
    outcomes.chars().enumerate().map(trial).collect()
}
