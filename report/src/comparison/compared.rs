//! A case that is compared, and what is not known of it because trials ended in an error.

use evalsuite_records::record::CaseRecord;
use evalsuite_schema::decimal::is_same;

use evalsuite_statistics::{CaseTrials, End, Series, mean};

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

/// Number of trials of a case that may have passed or failed: those that ended in an error, unless so many are tolerated. Of a case that
/// ended before its first trial, those that were planned.
pub(super) fn unknown_trials(record: &CaseRecord) -> u32 {
    match record.errors {
        0 if record.completed == 0 => record.planned.max(1),
        errors if errors > record.tolerated_errors || record.completed == 0 => errors,
        _ => 0,
    }
}
