//! A case that is compared: what its trials say about it, what happened to it, and what is not known because trials ended in an error.

use evalsuite_records::record::{CaseRecord, OutcomeCounts, Rule, Status};
use evalsuite_schema::decimal::is_same;
use evalsuite_statistics::{CaseTrials, End, Series, mean};
use serde::Serialize;

use super::ChangeKind;
use super::pairing::{Pair, Standard};
use crate::run_data::{CaseData, count_outcomes, counted_records};

/// The id of a run, and the scores of a case in it.
pub(super) type RunScores = (String, Vec<f64>);

/// A case that is compared.
#[derive(Debug, Clone)]
pub(super) struct Compared {
    /// Scores in base and run.
    pub(super) base: Vec<f64>,
    pub(super) run: Vec<f64>,
    pub(super) trials: CaseTrials,
    pub(super) cluster: usize,
    /// Indices of its slices, from 0.
    pub(super) slices: Vec<usize>,
    /// Numbers of trials in base and run that ended in an error, and may have passed or failed.
    pub(super) unknown: [u32; 2],
    /// Its scores in each run of base and run.
    pub(super) by_run: [Vec<RunScores>; 2],
}

impl Compared {
    pub(super) fn difference(&self) -> f64 {
        mean(&self.run) - mean(&self.base)
    }

    /// Whether all trials of both runs have one score, and none was repeated.
    pub(super) fn agrees(&self) -> bool {
        let mut scores = self.base.iter().chain(&self.run);
        let first = scores.next().copied().unwrap_or_default();
        scores.all(|score| is_same(*score, first)) && self.trials.agrees()
    }

    /// The case if its unknown trials of the run passed and those of the base failed, or the reverse.
    pub(super) fn with_unknown(&self, run_passes: bool) -> Self {
        let mut case = self.clone();
        let [in_base, in_run] = self.unknown;
        complete(&mut case.base, &mut case.trials.base, in_base, !run_passes);
        complete(&mut case.run, &mut case.trials.run, in_run, run_passes);
        case
    }
}

fn complete(scores: &mut Vec<f64>, series: &mut Series, unknown: u32, passes: bool) {
    *(if passes { &mut series.passed } else { &mut series.failed }) += unknown;
    // Of trials that end early, only the first one is compared.
    let added = if series.end == End::Planned { unknown } else { u32::from(scores.is_empty()).min(unknown) };
    scores.extend((0..added).map(|_| f64::from(u8::from(passes))));
}

/// Number of trials of a case that may have passed or failed, in all runs that are counted.
pub(super) fn unknown_trials(case: &CaseData) -> u32 {
    counted_records(case).iter().map(unknown_in_run).fold(0, u32::saturating_add)
}

/// Those that ended in an error, unless so many are tolerated. Of a case that ended before its first trial, those that were planned; of one that
/// ended in an error otherwise, at least one.
fn unknown_in_run(record: &CaseRecord) -> u32 {
    match record.errors {
        0 if record.completed == 0 => record.planned.max(1),
        errors if errors > record.tolerated_errors || record.completed == 0 => errors,
        0 if record.outcome == Status::Error => record.planned.saturating_sub(record.completed).max(1),
        _ => 0,
    }
}

/// A case that is not the same in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CaseChange {
    /// Id of the case.
    pub case_id: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Trials that passed and trials that ended in the base.
    pub base: (u32, u32),
    /// Trials that passed and trials that ended in the run.
    pub run: (u32, u32),
    /// Trials that passed and trials that ended of those that repeated the case because it came out otherwise than in the baseline.
    pub confirming: (u32, u32),
    /// Mean score in the base, of the trials that are compared.
    pub base_score: Option<f64>,
    /// Mean score in the run, of the trials that are compared.
    pub run_score: Option<f64>,
    /// Probability that chance alone makes any case of the suite change as much, 0 to 1; only of cases that regressed or improved.
    pub p_value: Option<f64>,
}

impl CaseChange {
    /// `None` for a case that is the same. `scores`: of a case that is compared, its mean scores in base and run. `tested`: whether it
    /// became worse or better than chance explains, and with which probability.
    pub(super) fn of(
        pair: &Pair<'_>,
        standard: &dyn Standard,
        scores: Option<[f64; 2]>,
        tested: Option<(ChangeKind, f64)>,
    ) -> Option<Self> {
        let (kind, p_value) = match (pair, tested) {
            (Pair::Both(..), Some((kind, p_value))) => (kind, Some(p_value)),
            _ if pair.is_error_now() => (ChangeKind::Error, None),
            (Pair::Both(base, run), None) => {
                let scores_differ = scores.is_some_and(|[base, run]| !is_same(run, base));
                (standard.change([base, run], scores_differ)?, None)
            }
            (Pair::Redefined(..), _) => (ChangeKind::Redefined, None),
            (Pair::NoBase(..) | Pair::NoResult(..) | Pair::TornBase(_), _) => (ChangeKind::Missing, None),
            (Pair::Added(_), _) => (ChangeKind::Added, None),
            (Pair::Removed(_), _) => (ChangeKind::Removed, None),
        };
        let trials = pair.cases().map(|case| case.map_or((0, 0), |case| standard.counts(case)));
        let [base, run] = pair.cases().map(|case| case.map(|case| &case.record));
        let id = run.or(base).map(|record| record.case_id.clone()).unwrap_or_default();
        let confirming = count_outcomes(run.iter().flat_map(|record| &record.confirming).map(|trial| trial.outcome));
        Some(Self {
            case_id: id,
            kind,
            base: trials[0],
            run: trials[1],
            confirming: (confirming.passed, confirming.passed.saturating_add(confirming.failed)),
            base_score: scores.map(|[base, _]| base).or_else(|| base.and_then(CaseRecord::sampled_score)),
            run_score: scores.map(|[_, run]| run).or_else(|| run.and_then(CaseRecord::sampled_score)),
            p_value,
        })
    }
}

/// The planned trials of a case in one run, or in several that are counted together, and their scores, by run, that are a fair sample of what
/// the agent does: only the first one of each run, unless the number of trials is known before. Correlated trials are one. `rule` is that of
/// the case; `stops_early`: whether trials end as soon as they decide the case. How many there are then depends on how they ended, and of such numbers only the first
/// trial's score has the right mean.
pub(super) fn observed(
    case: &CaseData,
    standard: &dyn Standard,
    rule: Rule,
    stops_early: bool,
) -> (Series, Vec<Vec<f64>>) {
    let of_runs = counted_records(case)
        .iter()
        .map(|record| observed_once(&record.with_independent_trials(), standard, rule, stops_early));
    let (series, scores): (Vec<Series>, Vec<Vec<f64>>) = of_runs.unzip();
    (Series::of_runs(&series), scores)
}

fn observed_once(record: &CaseRecord, standard: &dyn Standard, rule: Rule, stops_early: bool) -> (Series, Vec<f64>) {
    let completed = || record.trials.iter().filter(|trial| matches!(trial.outcome, Status::Passed | Status::Failed));
    let mut scores: Vec<f64> = completed().filter_map(|trial| trial.score).map(|score| standard.score(score)).collect();
    let OutcomeCounts { passed, failed, .. } = count_outcomes(completed().map(|trial| trial.outcome));
    let end = match rule {
        Rule::Any if stops_early && passed <= 1 => End::Pass,
        Rule::Every if stops_early && failed <= 1 => End::Failure,
        _ => End::Planned,
    };
    if end != End::Planned {
        scores.truncate(1);
    }
    (Series { passed, failed, end }, scores)
}

/// The trials of a case in both runs, with those that repeated it in the second one.
pub(super) fn case_trials(base: Series, run: Series, case: &CaseData) -> CaseTrials {
    let mut trials = CaseTrials { base, run, confirmed: 0, confirmed_better: 0, refuted: false };
    for record in counted_records(case) {
        let outcomes: Vec<Status> = record.confirming.iter().map(|trial| trial.outcome).collect();
        let is_repeated_as_failed = record.outcome != Status::Passed;
        let (wanted, other) =
            if is_repeated_as_failed { (Status::Failed, Status::Passed) } else { (Status::Passed, Status::Failed) };
        let leading = outcomes.iter().take_while(|outcome| **outcome == wanted).count();
        let leading = u32::try_from(leading).unwrap_or(u32::MAX);
        if is_repeated_as_failed {
            trials.confirmed += leading
        } else {
            trials.confirmed_better += leading
        }
        trials.refuted |= outcomes.contains(&other);
    }
    trials
}
