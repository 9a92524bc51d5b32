use std::io;

use evalsuite_schema::record::{CaseOutcome, CaseRecord, Reason, ReasonCode, Rule, Stage, TrialRecord, TrialSummary};

use crate::{
    grade::scoring::decide_case,
    model::{evals::Evals, suite::EvalCase, suite_location::program},
    platform::{files::write_json, notice},
    record::{
        run_directory::{RunDirectory, layout::trial_directory_name},
        run_record,
        statistics::{Summary, by_k, pass_at_k, pass_hat_k, stability},
    },
    run::{
        case_report::CaseReport,
        dependencies, limits,
        plan::Plan,
        preparation::Preparation,
        requirements,
        settings::Settings,
        trials::{self, Cut, points},
    },
    workspace,
};

/// Runs a case with all its trials and writes its records.
///
/// # Errors
///
/// If the case cannot be decoded, or its records cannot be written.
pub(crate) fn run_case(
    evals: &Evals,
    entry: &'static EvalCase,
    settings: &Settings,
    run: &RunDirectory,
) -> Result<CaseReport, String> {
    let mut plan = Plan::new(evals, entry, settings, run)?;
    run_record::register(&plan.suite_run()).map_err(|error| plan.unwritable(&error))?;
    let _lock = plan.place.lock().map_err(|error| plan.unwritable(&error))?;
    match dependencies::untold(&mut plan).map_err(|error| plan.unwritable(&error))? {
        Some(report) => Ok(report),
        None => conduct(plan),
    }
}

/// Runs a case whose lock is held, and before it what it depends on.
///
/// # Errors
///
/// As [`run_case`].
pub(crate) fn conduct(mut plan: Plan<'_>) -> Result<CaseReport, String> {
    // What an earlier run of the same id left, or one that was killed.
    workspace::remove_directory(&plan.directory).map_err(|error| plan.unwritable(&error))?;
    let mut trials = Vec::new();
    let mut ending = Ending::default();
    let prevented = match prevented(&plan) {
        None => dependencies::run(&mut plan).unwrap_or_else(|message| {
            let reason = Reason::new(Stage::Dependencies, ReasonCode::DependencyFailed, message);
            Some((CaseOutcome::Error, reason))
        }),
        some => some,
    };
    match prevented {
        Some((outcome, reason)) => (ending.outcome, ending.reason) = (outcome, Some(reason)),
        None => {
            let failed = |error: io::Error| plan.unwritable(&error);
            let mut preparation = Preparation::begin(&plan).map_err(failed)?;
            let cut = trials::run(&plan, &mut preparation, &mut trials).map_err(failed)?;
            ending = Ending::of(&plan, &trials, cut);
            let is_last = ending.outcome == CaseOutcome::Passed || plan.settings.runner.is_last_attempt();
            for problem in preparation.end(is_last) {
                notice::say(&problem);
            }
        }
    }
    finish(&plan, trials, ending).map_err(|error| plan.unwritable(&error))
}

/// Writes the case's record.
fn finish(plan: &Plan<'_>, trials: Vec<TrialRecord>, mut ending: Ending) -> io::Result<CaseReport> {
    requirements::forbid_skip(plan.settings, &mut ending.outcome, &mut ending.reason);
    limits::tell(plan, ending.outcome, ending.reason.as_ref())?;
    let record = record(plan, &trials, ending);
    dependencies::mark(plan)?;
    write_json(&plan.directory.join("case.json"), &record, &plan.redactor)?;
    Ok(plan.report(record, trials))
}

/// How a case ended.
struct Ending {
    outcome: CaseOutcome,
    reason: Option<Reason>,
    score: Option<f64>,
    truncated: bool,
    cost_limited: bool,
}

impl Default for Ending {
    fn default() -> Self {
        Self { outcome: CaseOutcome::Error, reason: None, score: None, truncated: false, cost_limited: false }
    }
}

impl Ending {
    fn of(plan: &Plan<'_>, trials: &[TrialRecord], cut: Cut) -> Self {
        let cost_limited = cut != Cut::None;
        let truncated = trials.len() < plan.planned as usize;
        if let Cut::Prevented(reason) = cut {
            return Self { reason: Some(reason), truncated, cost_limited, ..Self::default() };
        }
        let (outcome, score) = decide_case(plan.rule, plan.threshold, &points(trials));
        let reason = (outcome != CaseOutcome::Passed).then(|| reason(plan, trials, outcome, score)).flatten();
        Self { outcome, reason, score, truncated, cost_limited }
    }
}

/// The reason of the first trial that ended like the case, or the mean where that decides.
fn reason(plan: &Plan<'_>, trials: &[TrialRecord], outcome: CaseOutcome, score: Option<f64>) -> Option<Reason> {
    let what = match plan.rule {
        Rule::Mean => "the mean of the trials' scores",
        Rule::ConfidenceInterval => "the lower end of the confidence interval of the mean score",
        Rule::Any | Rule::Every => "",
    };
    if outcome == CaseOutcome::Failed && !what.is_empty() && trials.len() > 1 {
        let message = format!("{what}, {}, is below {}", score?, plan.threshold);
        return Some(Reason::new(Stage::Grading, ReasonCode::ThresholdNotMet, message));
    }
    trials.iter().find(|trial| trial.outcome == outcome).and_then(|trial| trial.reason.clone())
}

/// What keeps a case from running at all.
fn prevented(plan: &Plan<'_>) -> Option<(CaseOutcome, Reason)> {
    if let (Some(target), Some(chosen)) = (plan.entry.target, &plan.settings.targets)
        && !chosen.iter().any(|name| name == target)
    {
        let message = format!("target `{target}` is not chosen by EVALSUITE_TARGET");
        return Some((CaseOutcome::Skipped, Reason::new(Stage::Select, ReasonCode::Filtered, message)));
    }
    let missing = requirements::missing(&plan.case, plan.evals.registry(), plan.judges(), plan.settings.mode);
    missing.map(|reason| (CaseOutcome::Skipped, reason))
}

fn record(plan: &Plan<'_>, trials: &[TrialRecord], ending: Ending) -> CaseRecord {
    let count = |outcome| trials.iter().filter(|trial| trial.outcome == outcome).count();
    let (passed, failed, errors) = (count(CaseOutcome::Passed), count(CaseOutcome::Failed), count(CaseOutcome::Error));
    let completed = passed + failed;
    let scores: Vec<f64> = points(trials)
        .iter()
        .filter(|point| matches!(point.outcome, CaseOutcome::Passed | CaseOutcome::Failed))
        .filter_map(|point| point.score)
        .collect();
    let whole = !ending.truncated;
    let summary = Summary::of(&scores).filter(|_| whole);
    let mut record = CaseRecord::new();
    record.run_id = plan.run.run_id.clone();
    record.suite = plan.suite.name.to_owned();
    record.suite_digest = plan.suite_data.digest.clone();
    record.layout = plan.suite_data.layout;
    record.kind = plan.suite_data.kind;
    record.case_id = plan.entry.id.to_owned();
    record.case_key = plan.case_key.clone();
    record.case_digest = plan.digests.case.clone();
    record.input_digest = plan.digests.input.clone();
    record.grader_digest = plan.digests.graders.clone();
    record.test_name = plan.suite.test_path(plan.entry);
    record.program = program();
    record.target = plan.target.clone();
    record.agent = plan.agent_name.clone();
    record.location = plan.location();
    record.runner_attempt = plan.settings.runner.attempt;
    record.requested_by = plan.requested_by.map(str::to_owned);
    record.outcome = ending.outcome;
    record.reason = ending.reason;
    record.score = ending.score;
    record.threshold = plan.threshold;
    record.rule = plan.rule;
    record.strategy = plan.case.trials.strategy;
    record.trials = trials.iter().map(summarise).collect();
    record.planned = plan.planned;
    record.completed = number(completed);
    record.passed = number(passed);
    record.errors = number(errors);
    record.truncated = ending.truncated;
    record.cost_limited = ending.cost_limited;
    record.pass_at_k = by_k(completed, |k| pass_at_k(completed, passed, k).filter(|_| whole));
    record.pass_hat_k = by_k(completed, |k| pass_hat_k(completed, passed, k).filter(|_| whole));
    record.mean = summary.map(|summary| summary.mean);
    record.min = summary.map(|summary| summary.min);
    record.max = summary.map(|summary| summary.max);
    record.stddev = summary.map(|summary| summary.stddev);
    record.ci95_lower = summary.map(|summary| summary.lower);
    record.ci95_upper = summary.map(|summary| summary.upper);
    record.stability = stability(completed, passed).filter(|_| whole);
    record
}

fn summarise(trial: &TrialRecord) -> TrialSummary {
    let mut summary = TrialSummary::default();
    summary.index = trial.trial;
    summary.outcome = trial.outcome;
    summary.score = trial.score;
    summary.duration_ms = trial.duration_ms;
    summary.cost_usd = trial.cost_usd;
    summary.path = format!("{}/result.json", trial_directory_name(trial.trial, trial.attempt));
    summary
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
