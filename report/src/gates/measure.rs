//! What gates measure.

use evalsuite_records::exact_sums::sum_of_known;
use evalsuite_records::record::{Status, UnknownParts};
use evalsuite_records::trial_statistics::bounded_interval;
use evalsuite_schema::gate::{Gate, Measure};
use evalsuite_statistics::{mean, wilson_interval};

use crate::run_data::CaseData;

/// A measured value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub(super) value: Option<f64>,
    /// Cases, or trials, that should be in the value and are not.
    pub(super) unknown: usize,
    /// Share of them, 0 to 1.
    pub(super) missing: f64,
    /// The 95 % interval of a rate, a score or a lift.
    pub(super) interval: Option<(f64, f64)>,
    /// The mean difference, of a lift.
    pub(super) difference: Option<f64>,
    /// Why a lift says nothing.
    pub(super) why: Option<String>,
}

impl Measured {
    pub(super) fn new(value: Option<f64>, unknown: usize, all: usize) -> Self {
        Self {
            value,
            unknown,
            missing: unknown as f64 / all.max(1) as f64,
            interval: None,
            difference: None,
            why: None,
        }
    }

    /// No value, for this reason.
    pub(super) fn nothing(why: String, all: usize) -> Self {
        Self { why: Some(why), ..Self::new(None, 0, all) }
    }

    /// Measures cases: those that were not skipped, and for a lift all of them.
    pub(super) fn of(gate: &Gate, cases: &[&CaseData]) -> Self {
        let measure = gate.measure();
        match measure {
            Measure::PassRate | Measure::LowerPassRate => {
                let passed = cases.iter().filter(|case| case.record.outcome == Status::Passed).count();
                let value = rate_value(measure, passed, cases.len());
                Self { interval: rate_interval(passed, cases.len()), ..Self::new(value, 0, cases.len()) }
            }
            Measure::Score => {
                let means: Vec<f64> = cases.iter().filter_map(|case| case.record.sampled_score()).collect();
                // The other trials of a case with an error say nothing about those that broke.
                let is_known =
                    |case: &&&CaseData| case.record.outcome != Status::Error && case.record.sampled_score().is_some();
                let unknown = cases.len() - cases.iter().filter(is_known).count();
                let value = (!means.is_empty()).then(|| mean(&means));
                let interval = bounded_interval(&means, None, [0.0, 1.0]);
                Self { interval, ..Self::new(value, unknown, cases.len()) }
            }
            Measure::Cost => {
                let known = sum_of_known(cases.iter().flat_map(|case| case.record.costs()).flatten());
                let unknown: Vec<UnknownParts> = cases.iter().flat_map(|case| case.record.unknown_costs()).collect();
                let count = unknown.iter().filter(|parts| !parts.is_none()).count();
                Self::new(known, count, unknown.len())
            }
            Measure::Time | Measure::MedianTime | Measure::P95Time => {
                // Of trials that do not count, only the cost does: repeated ones would make times those of the cases that fail.
                let counted = || cases.iter().flat_map(|case| &case.record.trials);
                let mut seconds: Vec<f64> =
                    counted().filter_map(|trial| trial.duration_ms).map(|ms| ms as f64 / 1e3).collect();
                seconds.sort_unstable_by(f64::total_cmp);
                let value = match measure {
                    Measure::MedianTime => nearest_rank(&seconds, 50),
                    Measure::P95Time => nearest_rank(&seconds, 95),
                    _ => sum_of_known(seconds.iter().copied()),
                };
                Self::new(value, counted().count() - seconds.len(), counted().count())
            }
            // `check` measures what compares targets.
            Measure::Lift | Measure::ScoreLift => {
                Self::nothing("this program cannot measure it".to_owned(), cases.len())
            }
        }
    }

    /// The best value of cases together with others of which no result is known: so many, or `None` if that is not known either. `None` if
    /// any value is possible.
    pub(super) fn at_best(gate: &Gate, cases: &[&CaseData], missing: Option<usize>) -> Option<f64> {
        let measure = gate.measure();
        match measure {
            Measure::PassRate | Measure::LowerPassRate => {
                let failed = cases.iter().filter(|case| case.record.outcome != Status::Passed).count();
                let all = cases.len() + missing?;
                rate_value(measure, all - failed, all)
            }
            Measure::Score => {
                let is_known = |case: &&&CaseData| case.record.outcome != Status::Error;
                let scores = cases.iter().filter(is_known).filter_map(|case| case.record.sampled_score());
                let mut scores: Vec<f64> = scores.collect();
                scores.resize(cases.len() + missing?, 1.0);
                Some(mean(&scores))
            }
            // What is missing can only make a sum larger.
            Measure::Cost | Measure::Time => Self::of(gate, cases).value,
            // How many trials a case without a record has is not known.
            Measure::MedianTime | Measure::P95Time if missing != Some(0) => None,
            Measure::MedianTime | Measure::P95Time => {
                let trials = cases.iter().flat_map(|case| &case.record.trials);
                let mut times: Vec<u64> = trials.map(|trial| trial.duration_ms.unwrap_or_default()).collect();
                times.sort_unstable();
                let rank = if measure == Measure::P95Time { 95 } else { 50 };
                let seconds: Vec<f64> = times.into_iter().map(|ms| ms as f64 / 1e3).collect();
                nearest_rank(&seconds, rank)
            }
            Measure::Lift | Measure::ScoreLift => None,
        }
    }
}

/// The measure of a rate; `None` without cases.
pub(super) fn rate_value(measure: Measure, passed: usize, cases: usize) -> Option<f64> {
    let (lower, _) = rate_interval(passed, cases)?;
    Some(if measure == Measure::LowerPassRate { lower } else { passed as f64 / cases as f64 })
}

fn rate_interval(passed: usize, cases: usize) -> Option<(f64, f64)> {
    let [passed, cases] = [passed, cases].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    wilson_interval(passed, cases)
}

/// The smallest value that this percentage of the sorted values does not exceed.
fn nearest_rank(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}
