//! Pure functions that compute the outcome of a trial from grader records, and the outcome of a case from trials; how a score counts
//! towards passing, and means of scores.

pub(crate) mod case_score;
pub(crate) mod conversation_score;
pub(crate) mod trial_score;

use evalsuite_records::exact_sums::sum;
use evalsuite_schema::decimal::{at_least, at_most, is_same, without_noise};

pub(crate) use self::case_score::{
    CaseStandard, TrialPoint, case_rule, decide_case, deciding, is_completed, is_settled,
};
pub(crate) use self::conversation_score::score_conversation;
pub(crate) use self::trial_score::{TrialScore, decided, is_broken_guard, score_trial};

/// A score with its verdict, and its weight in a mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedScore {
    pub(crate) weight: f64,
    pub(crate) score: f64,
    pub(crate) passed: bool,
}

/// Whether the weighted mean of scores, as they count towards passing, reaches the threshold. If all of them passed, it does; if none of
/// them passed, it does not. A mean that is the threshold does not reach it if one of the scores counts as less, however small its weight.
pub(crate) fn mean_passes(scores: &[CountedScore], threshold: f64) -> bool {
    let limited = |score: &CountedScore| {
        if score.passed { score.score.max(threshold) } else { score.score.min(threshold) }
    };
    let weighted = || scores.iter().filter(|score| score.weight > 0.0);
    let is_less = weighted().any(|score| !score.passed && at_least(score.score, threshold));
    // A score that is the threshold decides nothing; with a large weight, it would round away what the others say.
    let others =
        weighted().map(|score| (score.weight, limited(score))).filter(|(_, score)| !is_same(*score, threshold));
    match weighted_mean(others) {
        Some(mean) if is_less => !at_most(mean, threshold),
        Some(mean) => at_least(mean, threshold),
        None => !is_less && weighted().next().is_some(),
    }
}

/// `Σ weight·value / Σ weight`, the same for every order of the values; `None` where the weights are 0 or there are no values.
pub(crate) fn weighted_mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let values: Vec<(f64, f64)> = values.collect();
    // Weights that are finite one by one can have an infinite sum: they count as shares of the largest one.
    let largest = values.iter().fold(0.0, |largest: f64, (weight, _)| largest.max(*weight));
    let unit = if largest > 1e100 { largest } else { 1.0 };
    let weights = sum(values.iter().map(|(weight, _)| weight / unit));
    let total = sum(values.iter().map(|(weight, value)| weight / unit * value));
    (weights > 0.0).then(|| without_noise(total / weights))
}
