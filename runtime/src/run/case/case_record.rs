//! The record of a case: how its trials decided it.

use std::collections::BTreeSet;
use std::io;

use evalsuite_records::record::{
    BaselineResult, CaseRecord, Conditions, GraderRecord, Reason, ReasonCode, Rule, Stage, Status, TrialRecord,
    TrialSummary, Verdict,
};
use evalsuite_schema::Kind;

use crate::grade::scoring::decide_case;
use crate::model::suite_location::{package_directory, program};
use crate::platform::files::write_json;
use crate::platform::redaction::Redactor;
use crate::record::baseline::{baseline_file, result_of};
use crate::record::run_directory::layout::{TRIAL_RECORD, trial_directory_name};
use crate::record::statistics::{Summary, by_k, pass_at_k, pass_hat_k, stability};
use crate::run::case_report::CaseReport;
use crate::run::plan::Plan;
use crate::run::selection::requirements;
use crate::run::trials::case_trials;
use crate::run::trials::case_trials::{CaseTrials, TrialsEnd, results};
use crate::run::{dependencies, limits};

/// How a case ended.
pub(crate) struct CaseEnd {
    pub(crate) outcome: Status,
    pub(crate) reason: Option<Reason>,
    score: Option<f64>,
    is_truncated: bool,
    is_cost_limited: bool,
    pub(crate) baseline: Option<BaselineResult>,
}

impl CaseEnd {
    /// Of a case without trials.
    pub(crate) fn prevented(outcome: Status, reason: Reason) -> Self {
        Self { outcome, reason: Some(reason), score: None, is_truncated: false, is_cost_limited: false, baseline: None }
    }

    /// Of a case whose trials ran.
    pub(crate) fn of(plan: &Plan<'_>, case_trials: &CaseTrials) -> Self {
        let CaseTrials { counted: trials, end, .. } = case_trials;
        let is_cost_limited = *end != TrialsEnd::Decided;
        let is_truncated = trials.len() < plan.planned as usize;
        if let TrialsEnd::Prevented(reason) = end {
            return Self { is_truncated, is_cost_limited, ..Self::prevented(Status::Error, reason.clone()) };
        }
        let (outcome, score) = decide_case(plan.standard, &results(trials));
        let reason = (outcome != Status::Passed).then(|| reason(plan, trials, outcome, score)).flatten();
        let end = Self { outcome, reason, score, is_truncated, is_cost_limited, baseline: None };
        let mut record = plan.case_record();
        add_trials(&mut record, case_trials);
        end.in_view_of_baseline(plan, &record)
    }

    /// Of a case whose result is that of another run.
    pub(crate) fn of_record(plan: &Plan<'_>, record: &CaseRecord) -> Self {
        let (outcome, reason, score) = (record.outcome, record.reason.clone(), record.score);
        let (is_truncated, is_cost_limited) = (record.truncated, record.cost_limited);
        Self { outcome, reason, score, is_truncated, is_cost_limited, baseline: None }.in_view_of_baseline(plan, record)
    }

    /// With what the baseline says about the case; an error if the baseline is invalid. It counts in suites of kind `capability` only.
    /// `record` has the trials.
    fn in_view_of_baseline(mut self, plan: &Plan<'_>, trials: &CaseRecord) -> Self {
        if plan.source.data.kind != Kind::Capability || self.outcome == Status::Error {
            return self;
        }
        let mut record = plan.case_record();
        record.outcome = self.outcome;
        (record.passed, record.completed) = (trials.passed, trials.completed);
        record.confirming.clone_from(&trials.confirming);
        match result_of(&baseline_file(&package_directory(plan.source.suite), &plan.source.suite.id()), &record) {
            Ok(result) => self.baseline = result,
            Err(error) => {
                self.outcome = Status::Error;
                self.reason = Some(Reason::new(Stage::Setup, ReasonCode::InvalidSetting, error.to_string()));
            }
        }
        self
    }

    /// Whether the test runner repeats the test, if it repeats tests.
    pub(crate) fn fails_test(&self, plan: &Plan<'_>) -> bool {
        let mut record = plan.case_record();
        (record.outcome, record.baseline) = (self.outcome, self.baseline);
        record.fails_test()
    }
}

/// The reason of the first trial with the outcome of the case; where the mean of the scores decides, that it is too low.
fn reason(plan: &Plan<'_>, trials: &[TrialRecord], outcome: Status, score: Option<f64>) -> Option<Reason> {
    let measure = match plan.standard.rule {
        Rule::Mean => "the mean of the trials' scores",
        Rule::ConfidenceInterval => "the lower end of the confidence interval of the mean score",
        Rule::Any | Rule::Every => "",
    };
    if outcome == Status::Failed && !measure.is_empty() && trials.len() > 1 {
        let message = format!("{measure}, {}, is below {}", score?, plan.standard.threshold);
        return Some(Reason::new(Stage::Grading, ReasonCode::ThresholdNotMet, message));
    }
    trials.iter().find(|trial| trial.outcome == outcome).and_then(|trial| trial.reason.clone())
}

/// Writes the case's record.
pub(crate) fn write_record(
    plan: &Plan<'_>,
    trials: CaseTrials,
    mut end: CaseEnd,
    conditions: Option<Conditions>,
) -> io::Result<CaseReport> {
    requirements::refuse_skip(plan.settings, &mut end.outcome, &mut end.reason);
    limits::record_first_error(plan, end.outcome, end.reason.as_ref())?;
    let mut record = case_record(plan, &trials, end);
    record.conditions = conditions;
    let record = plan.redactor.redacted(record)?;
    dependencies::mark_unreported(plan)?;
    write_json(&plan.records.directory.join("case.json"), &record, &Redactor::default())?;
    plan.report_case_end(&record, case_trials::cost(trials.counted.iter().chain(trials.uncounted())));
    Ok(plan.report(record, trials.counted))
}

/// Adds the trials and how many of them ended how.
fn add_trials(record: &mut CaseRecord, CaseTrials { counted, surplus, confirming, .. }: &CaseTrials) {
    let summaries = |trials: &[TrialRecord]| trials.iter().map(summarise).collect();
    record.trials = summaries(counted);
    record.surplus = summaries(surplus);
    record.confirming = summaries(confirming);
    let count = |outcome| number(counted.iter().filter(|trial| trial.outcome == outcome).count());
    record.passed = count(Status::Passed);
    record.completed = record.passed + count(Status::Failed);
    record.errors = count(Status::Error);
}

fn case_record(plan: &Plan<'_>, case_trials: &CaseTrials, end: CaseEnd) -> CaseRecord {
    let trials = &case_trials.counted;
    let mut record = plan.case_record();
    add_trials(&mut record, case_trials);
    let (completed, passed) = (record.completed as usize, record.passed as usize);
    let scores: Vec<f64> = trials
        .iter()
        .filter(|trial| matches!(trial.outcome, Status::Passed | Status::Failed))
        .filter_map(|trial| trial.score)
        .collect();
    let is_complete = !end.is_truncated;
    let summary = Summary::of(&scores).filter(|_| is_complete);

    record.criteria = plan.source.case.criteria.clone().or_else(|| plan.source.case.description.clone());
    record.rule = plan.standard.rule;
    record.program = program();
    record.outcome = end.outcome;
    record.reason = end.reason;
    record.score = end.score;
    record.strategy = plan.source.case.trials.strategy;
    record.planned = plan.planned;
    record.tolerated_errors = plan.source.case.trials.errors;
    record.stops_early =
        plan.planned > 1 && !plan.settings.run_all && matches!(plan.standard.rule, Rule::Any | Rule::Every);
    record.truncated = end.is_truncated;
    record.cost_limited = end.is_cost_limited;
    record.pass_at_k = by_k(completed, |k| pass_at_k(completed, passed, k).filter(|_| is_complete));
    record.pass_hat_k = by_k(completed, |k| pass_hat_k(completed, passed, k).filter(|_| is_complete));
    record.mean = summary.map(|summary| summary.mean);
    record.min = summary.map(|summary| summary.min);
    record.max = summary.map(|summary| summary.max);
    record.stddev = summary.map(|summary| summary.stddev);
    record.ci95_lower = summary.map(|summary| summary.lower);
    record.ci95_upper = summary.map(|summary| summary.upper);
    record.stability = stability(completed, passed).filter(|_| is_complete);
    if record.outcome == Status::Passed {
        record.failed_graders = failed_graders(trials);
    }
    record.baseline = end.baseline;
    record
}

/// The graders that failed in trials that passed.
fn failed_graders(trials: &[TrialRecord]) -> Vec<String> {
    let passed = trials.iter().filter(|trial| trial.outcome == Status::Passed);
    let graders = passed.flat_map(|trial| {
        let of_turns = trial.turns.iter().flatten().flat_map(|turn| &turn.graders);
        trial.graders.iter().chain(of_turns)
    });
    let counts = |grader: &&GraderRecord| grader.weight > 0.0 && grader.advisory.is_none();
    let failed = graders.filter(counts).filter(|grader| grader.verdict == Some(Verdict::Fail));
    failed.map(|grader| grader.name.clone()).collect::<BTreeSet<String>>().into_iter().collect()
}

fn summarise(trial: &TrialRecord) -> TrialSummary {
    TrialSummary::new(trial, format!("{}/{TRIAL_RECORD}", trial_directory_name(trial.trial, trial.attempt)))
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
