//! The record of a case: how its trials decided it. If a case runs again in the same run, its earlier records are kept until the new ones
//! are complete, or its trials where another round is added to them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_records::record::{
    CaseRecord, Conditions, GraderRecord, Reason, ReasonCode, Rule, Stability, Stage, Status, TrialRecord,
    TrialSummary, Verdict,
};
use evalsuite_schema::decimal::{at_least, shown_from};
use evalsuite_schema::sorting::set;

use crate::grade::scoring::{decide_case, deciding, is_completed};
use crate::model::suite_location::program;
use crate::platform::files::{read_json, sorted_directories, write_json};
use crate::platform::redaction::Redactor;
use crate::record::run_directory::layout::{CASE_RECORD, EARLIER_CASES, TRIAL_RECORD, trial_directory_name};
use crate::record::trial_statistics::{
    Summary, by_k, guaranteed_interval, largest_lower_end, pass_at_k, pass_hat_k, scores_to_reach, stability,
};
use crate::run::case_report::CaseReport;
use crate::run::plan::Plan;
use crate::run::replay::reuse;
use crate::run::trials::counted_trials::{self, CaseTrials, EndedTrial, TrialsEnd, results};
use crate::run::{budgets, dependencies, selection};
use crate::workspace::remove_directory;

/// The record of a case whose trials ran: how they decide it, and what its baseline says.
pub(crate) fn decided(plan: &Plan<'_>, trials: &CaseTrials) -> CaseRecord {
    let mut record = plan.case_record();
    add_trials(&mut record, trials);
    let CaseTrials { counted, end, .. } = trials;
    record.truncated = counted.len() < plan.planned as usize;
    record.cost_limited = match end {
        TrialsEnd::Decided => false,
        TrialsEnd::CostLimit => true,
        TrialsEnd::Prevented(reason) => reason.code != ReasonCode::RecordingMissing,
    };
    if let TrialsEnd::Prevented(reason) = end {
        (record.outcome, record.reason) = (Status::Error, Some(reason.clone()));
        return record;
    }
    let points = results(counted);
    record.outcome = decide_case(plan.standard, deciding(plan.standard, &points)).0;
    record.score = decide_case(plan.standard, &points).1;
    if record.outcome != Status::Passed {
        record.reason = reason(plan, counted, record.outcome, record.score);
    }
    crate::run::baseline_check::judge(plan, &mut record);
    record
}

/// The reason of the first trial with the outcome of the case; where the mean of the scores decides, that it is too low.
fn reason(plan: &Plan<'_>, trials: &[TrialRecord], outcome: Status, score: Option<f64>) -> Option<Reason> {
    let measure = match plan.standard.rule {
        Rule::Mean => "the mean of the trials' scores",
        Rule::ConfidenceInterval => "the lower end of the confidence interval of the mean score",
        Rule::Any | Rule::Every => "",
    };
    let with = |outcome: Status| trials.iter().find(|trial| trial.outcome == outcome);
    if outcome == Status::Failed && !measure.is_empty() && trials.len() > 1 {
        let (score, threshold) = (score?, plan.standard.threshold);
        if at_least(score, threshold) {
            let failed = trials.iter().filter(|trial| trial.outcome == Status::Failed).count();
            let mut reason = with(outcome)?.reason.clone()?;
            let why = &reason.message;
            reason.message = format!(
                "{failed} of {} trials failed, so that they count as less than {threshold}: {why}",
                trials.len()
            );
            return Some(reason);
        }
        let shown = shown_from(2, score, threshold);
        let mut message = format!("{measure}, {shown}, is below {threshold}");
        if plan.standard.rule == Rule::ConfidenceInterval {
            message += &needed_trials(trials.len(), threshold);
        }
        return Some(Reason::new(Stage::Grading, ReasonCode::ThresholdNotMet, message));
    }
    match (outcome, with(Status::Skipped)) {
        (Status::Error, Some(skipped)) if has_tolerated_errors(plan, trials) => missing_trials(skipped),
        _ => with(outcome)?.reason.clone(),
    }
}

/// Whether the errors of trials alone do not make the case an error.
fn has_tolerated_errors(plan: &Plan<'_>, trials: &[TrialRecord]) -> bool {
    let errors = trials.iter().filter(|trial| trial.outcome == Status::Error).count();
    errors <= plan.standard.tolerated_errors as usize && trials.iter().any(|trial| is_completed(trial.outcome))
}

/// The reason of a case whose trials end with one that was skipped, before they decide it.
fn missing_trials(skipped: &TrialRecord) -> Option<Reason> {
    let mut reason = skipped.reason.clone()?;
    let (number, planned) = (skipped.trial + 1, skipped.trials_planned);
    let why = "was skipped, and the trials before it do not decide the case";
    reason.message = format!("trial {number} of {planned} {why}: {}", reason.message);
    Some(reason)
}

/// How many trials a lower end of the interval needs to reach a threshold, if so few cannot.
fn needed_trials(trials: usize, threshold: f64) -> String {
    let most = largest_lower_end(trials);
    if at_least(most, threshold) {
        return String::new();
    }
    let needed = scores_to_reach(threshold);
    let needed =
        needed.map_or_else(|| "no number of trials reaches it".to_owned(), |count| format!("{count} are needed"));
    format!("; {trials} trials of score 1 reach {}, {needed}", shown_from(2, most, threshold))
}

/// Completes the case's record and writes it.
pub(crate) fn write_record(plan: &Plan<'_>, trials: CaseTrials, mut record: CaseRecord) -> io::Result<CaseReport> {
    selection::refuse_skip(plan.settings, &mut record.outcome, &mut record.reason);
    budgets::record_first_error(plan, record.outcome, record.reason.as_ref())?;
    add_statistics(plan, &trials.counted, &mut record);
    let record = plan.redactor.redacted(record)?;
    let CaseTrials { counted, surplus, confirming, retried, .. } = &trials;
    let all = counted.iter().chain(surplus).chain(confirming).chain(retried);
    let is_cost_partial = counted_trials::is_cost_partial(counted.iter().chain(surplus).chain(confirming), retried);
    let cost = counted_trials::cost(all);
    end_case(plan, trials.counted, record, (cost, is_cost_partial))
}

/// Writes the record and reports the end of the case. `cost` is that of this run, and whether it is a lower bound.
pub(crate) fn end_case(
    plan: &Plan<'_>,
    trials: Vec<TrialRecord>,
    record: CaseRecord,
    (cost, is_cost_partial): (Option<f64>, bool),
) -> io::Result<CaseReport> {
    dependencies::mark_record(plan)?;
    write_json(&plan.directory.join(CASE_RECORD), &record, &Redactor::default())?;
    plan.report_case_end(&record, cost, is_cost_partial);
    Ok(plan.report(record, trials))
}

/// Adds the trials and how many of them ended how.
fn add_trials(record: &mut CaseRecord, CaseTrials { counted, surplus, confirming, retried, .. }: &CaseTrials) {
    let path = |trial: &TrialRecord| format!("{}/{TRIAL_RECORD}", trial_directory_name(trial.trial, trial.attempt));
    let summaries = |trials: &[TrialRecord]| trials.iter().map(|trial| TrialSummary::new(trial, path(trial))).collect();
    record.trials = summaries(counted);
    record.surplus = summaries(surplus);
    record.confirming = summaries(confirming);
    record.retried = summaries(retried);
    let count = |outcome| counted.iter().map(|trial| u32::from(trial.outcome == outcome)).sum();
    record.passed = count(Status::Passed);
    record.completed = record.passed + count(Status::Failed);
    record.errors = count(Status::Error);
}

/// Adds how the case was to be decided, and what its trials say about its score.
fn add_statistics(plan: &Plan<'_>, trials: &[TrialRecord], record: &mut CaseRecord) {
    let (completed, passed) = (record.completed as usize, record.passed as usize);
    let scores: Vec<f64> = trials
        .iter()
        .filter(|trial| matches!(trial.outcome, Status::Passed | Status::Failed))
        .filter_map(|trial| trial.score)
        .collect();
    let is_complete = !record.truncated;
    let summary = Summary::of(&scores).filter(|_| is_complete);

    record.criteria = plan.case.criteria.clone().or_else(|| plan.case.description.clone());
    record.rule = plan.standard.rule;
    record.program = program();
    record.strategy = plan.case.trials.strategy;
    record.planned = plan.planned;
    record.tolerated_errors = plan.case.trials.errors;
    record.correlated = plan.case.trials.correlated;
    record.stops_early =
        plan.planned > 1 && !plan.runs_all_trials() && matches!(plan.standard.rule, Rule::Any | Rule::Every);
    record.pass_at_k = by_k(completed, |k| pass_at_k(completed, passed, k).filter(|_| is_complete));
    record.pass_hat_k = by_k(completed, |k| pass_hat_k(completed, passed, k).filter(|_| is_complete));
    record.mean = summary.map(|summary| summary.mean);
    record.min = summary.map(|summary| summary.min);
    record.max = summary.map(|summary| summary.max);
    record.stddev = summary.map(|summary| summary.stddev);
    let interval = guaranteed_interval(&scores).filter(|_| is_complete);
    record.ci95_lower = interval.map(|(lower, _)| lower);
    record.ci95_upper = interval.map(|(_, upper)| upper);
    // Trials that differ do so whatever the others would have shown.
    record.stability = stability(completed, passed).filter(|found| is_complete || *found == Stability::Flaky);
    if record.outcome == Status::Passed {
        record.failed_graders = failed_graders(trials);
    }
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
    set(failed.map(|grader| grader.name.clone())).into_iter().collect()
}

/// The earlier records of a case. If its process dies, they stay.
#[must_use = "the earlier records stay until they are removed"]
pub(crate) struct EarlierRecords(PathBuf);

/// Makes room for the records of a case: moves those of a case that ended to a directory next to all cases, and removes those of
/// one whose process died.
pub(crate) fn set_aside(directory: &Path) -> io::Result<EarlierRecords> {
    let EarlierRecords(earlier) = EarlierRecords::of(directory);
    let suite = directory.parent().and_then(Path::parent).unwrap_or(directory);
    if directory.join(CASE_RECORD).is_file() {
        remove_directory(&earlier)?;
        loop {
            match fs::create_dir(suite.join(EARLIER_CASES)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            match fs::rename(directory, &earlier) {
                // Another test has removed the directory, because there were no records in it.
                Err(error) if error.kind() == io::ErrorKind::NotFound && directory.is_dir() => {}
                moved => break moved?,
            }
        }
    } else {
        remove_directory(directory)?;
    }
    Ok(EarlierRecords(earlier))
}

impl EarlierRecords {
    /// Those of a case, which need not exist. The records that the case has now stay where they are.
    pub(crate) fn of(directory: &Path) -> Self {
        let suite = directory.parent().and_then(Path::parent).unwrap_or(directory);
        Self(suite.join(EARLIER_CASES).join(directory.file_name().unwrap_or_default()))
    }

    /// Removes them: the new ones are whole.
    pub(crate) fn remove(self) -> io::Result<()> {
        remove_directory(&self.0)?;
        // Another test may have records in it.
        let _ = self.0.parent().map(fs::remove_dir);
        Ok(())
    }
}

/// The trials that are kept, in order; `None` if the case starts from its first trial: it has no record, or one of another definition, of
/// other conditions than these, or of trials that cannot be read. Directories of other trials are removed: their process was killed.
pub(crate) fn kept_trials(plan: &Plan<'_>, conditions: Option<&Conditions>) -> io::Result<Option<Vec<EndedTrial>>> {
    if !plan.settings.add_trials {
        return Ok(None);
    }
    // A damaged record is replaced, as without trials to add.
    let Ok(Some(record)) = read_json::<CaseRecord>(&plan.directory.join(CASE_RECORD)) else { return Ok(None) };
    let is_same = match (&record.conditions, conditions) {
        (Some(then), Some(now)) => reuse::are_same(then, now),
        (then, now) => then.is_none() && now.is_none(),
    };
    if !is_same || record.digests() != plan.identity.digests() || record.trials.is_empty() {
        return Ok(None);
    }
    let Some(trials) = read_all(plan, &record.trials) else { return Ok(None) };
    let Some(retried) = read_all(plan, &record.retried) else { return Ok(None) };
    let is_next = |(index, trial): (usize, &TrialRecord)| {
        usize::try_from(trial.trial) == Ok(index) && trial.outcome != Status::Skipped
    };
    if !trials.iter().enumerate().all(is_next) {
        return Ok(None);
    }
    let names: Vec<String> =
        trials.iter().chain(&retried).map(|trial| trial_directory_name(trial.trial, trial.attempt)).collect();
    for directory in sorted_directories(&plan.directory)? {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("trial-") && !names.contains(&name) {
            remove_directory(&directory)?;
        }
    }
    let of = |record: TrialRecord| {
        let is_before = |attempt: &&TrialRecord| attempt.trial == record.trial;
        EndedTrial { retried: retried.iter().filter(is_before).cloned().collect(), record }
    };
    Ok(Some(trials.into_iter().map(of).collect()))
}

/// The records of trials; `None` if one is missing or damaged.
fn read_all(plan: &Plan<'_>, summaries: &[TrialSummary]) -> Option<Vec<TrialRecord>> {
    summaries.iter().map(|trial| read_json(&plan.directory.join(&trial.path)).ok().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_run_again_at_the_same_time_do_not_disturb_each_other() {
        let root = tempfile::tempdir().unwrap();
        let run_again = |case: PathBuf| {
            for _ in 0..100 {
                fs::create_dir_all(&case).unwrap();
                fs::write(case.join(CASE_RECORD), "").unwrap();
                set_aside(&case).and_then(EarlierRecords::remove).unwrap();
            }
        };
        std::thread::scope(|scope| {
            for number in 0..8 {
                let case = root.path().join(format!("cases/case-{number}"));
                scope.spawn(|| run_again(case));
            }
        });
    }

    #[test]
    fn records_stay_until_the_new_ones_are_whole() {
        let root = tempfile::tempdir().unwrap();
        let case = root.path().join("cases/a-12345678");
        let write = |file: &str, text: &str| {
            let file = case.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let kept = || fs::read_to_string(root.path().join("earlier/a-12345678/case.json")).ok();
        set_aside(&case).unwrap().remove().unwrap();
        write("case.json", "first");
        write("trial-000/result.json", "first");
        // The process dies, twice.
        for _ in 0..2 {
            let _ = set_aside(&case).unwrap();
            assert_eq!((case.exists(), kept().as_deref()), (false, Some("first")));
            write("trial-000/started.json", "");
        }
        let earlier = set_aside(&case).unwrap();
        write("case.json", "second");
        earlier.remove().unwrap();
        assert!(!root.path().join("earlier").exists());
        assert_eq!((kept(), fs::read_to_string(case.join("case.json")).unwrap()), (None, "second".to_owned()));
    }
}
