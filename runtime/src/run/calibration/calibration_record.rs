//! The record of a calibration, computed from its samples: how well two lists of scores agree.
//!
//! Hand-written: `statrs` has neither Cohen's κ nor Spearman's ρ, and Pearson's r of two lists is five lines.

use std::collections::BTreeSet;

use evalsuite_records::exact_sums;
use evalsuite_records::record::{
    CalibrationRecord, CalibrationStatistics, GraderState, JudgeRecord, ReasonCode, SampleCounts, SampleRecord,
    Shortfall,
};
use evalsuite_records::trial_statistics::ratio;
use evalsuite_schema::decimal::{at_least, at_most};
use evalsuite_schema::sorting::sort_by;
use evalsuite_schema::{Bar, Calibration};

use crate::platform::digest::sha256;

/// Samples that are named because of their difference.
const DISAGREEMENTS: usize = 20;

/// Least share of samples that have to be judged.
const VALID: f64 = 0.5;

/// Fills in what was measured; `record` has the run.
pub(crate) fn complete(
    mut record: CalibrationRecord,
    calibration: &Calibration,
    samples: Vec<SampleRecord>,
) -> CalibrationRecord {
    let pairs: Vec<(f64, f64)> =
        samples.iter().filter_map(|sample| Some((sample.human_score, sample.judge_score?))).collect();
    let statistics = agreement_of(&pairs, calibration.tolerance, calibration.threshold);
    let counts = counts(&samples, calibration.tolerance);
    let judges: Vec<&JudgeRecord> =
        samples.iter().filter_map(|sample| sample.grader.as_ref()?.judge.as_ref()).collect();
    let names = |of: fn(&JudgeRecord) -> Option<&str>| -> Vec<String> {
        let names: BTreeSet<&str> =
            judges.iter().filter_map(|judge| of(judge)).filter(|name| !name.is_empty()).collect();
        names.into_iter().map(str::to_owned).collect()
    };
    let prompts: Vec<&str> = judges.iter().map(|judge| judge.prompt_sha256.as_str()).collect();
    let costs = judges.iter().filter_map(|judge| judge.cost_usd);
    let shortfalls = shortfalls(&calibration.bar, &counts, statistics.as_ref());
    record.location = calibration.location.clone();
    record.judges = names(|judge| Some(&judge.name));
    record.models = names(|judge| judge.model.as_deref());
    record.prompt_sha256 = sha256(prompts.join("\n"));
    record.usage = judges.iter().filter_map(|judge| judge.usage).reduce(|mut sum, usage| {
        sum += usage;
        sum
    });
    record.cost_usd = costs.reduce(|sum, cost| sum + cost);
    record.tolerance = calibration.tolerance;
    record.threshold = calibration.threshold;
    record.counts = counts;
    record.statistics = statistics;
    record.bar = calibration.bar;
    record.shortfalls = shortfalls;
    record.disagreements = disagreements(&samples);
    record.samples = samples;
    record
}

fn counts(samples: &[SampleRecord], tolerance: f64) -> SampleCounts {
    let count = |fits: &dyn Fn(&SampleRecord) -> bool| {
        u32::try_from(samples.iter().filter(|sample| fits(sample)).count()).unwrap_or(u32::MAX)
    };
    let is_undecided =
        |sample: &SampleRecord| sample.grader.as_ref().is_some_and(|grader| grader.state == GraderState::Undecided);
    let agrees =
        |sample: &SampleRecord| sample.judge_score.is_some_and(|judge| agree(sample.human_score, judge, tolerance));
    let mut counts = SampleCounts::default();
    counts.samples = count(&|_| true);
    counts.valid = count(&|sample| sample.judge_score.is_some());
    counts.undecided = count(&is_undecided);
    counts.errors = count(&|sample| sample.judge_score.is_none() && !is_undecided(sample));
    counts.agreements = count(&agrees);
    counts
}

fn shortfalls(bar: &Bar, counts: &SampleCounts, statistics: Option<&CalibrationStatistics>) -> Vec<Shortfall> {
    if !bar.is_set() {
        return Vec::new();
    }
    let mut missed = Vec::new();
    let mut miss = |measure: &str, demanded, measured| missed.push(Shortfall::new(measure, demanded, measured));
    let valid = f64::from(counts.valid) / f64::from(counts.samples.max(1));
    if !at_least(valid, VALID) {
        miss("valid", VALID, Some(valid));
    }
    let of = |measure: fn(&CalibrationStatistics) -> f64| statistics.map(measure);
    let measures = [
        ("kappa", bar.kappa, of(|found| found.kappa)),
        ("spearman", bar.spearman, of(|found| found.spearman)),
        ("pearson", bar.pearson, of(|found| found.pearson)),
        ("agreement", bar.agreement, of(|found| found.agreement)),
        ("mae", bar.mae, of(|found| found.mae)),
    ];
    for (measure, demanded, measured) in measures {
        let Some(demanded) = demanded else { continue };
        let is_missed = |found: f64| match measure {
            "mae" => !at_most(found, demanded),
            _ => !at_least(found, demanded),
        };
        if measured.is_none_or(is_missed) {
            miss(measure, demanded, measured);
        }
    }
    missed
}

/// Ids of the samples whose scores differ most.
fn disagreements(samples: &[SampleRecord]) -> Vec<String> {
    let mut different: Vec<(&str, f64)> = samples
        .iter()
        .filter_map(|sample| Some((sample.id.as_str(), sample.difference?.abs())))
        .filter(|(_, difference)| *difference > 0.0)
        .collect();
    sort_by(&mut different, |a, b| b.1.total_cmp(&a.1));
    different.into_iter().take(DISAGREEMENTS).map(|(id, _)| id.to_owned()).collect()
}

/// Whether enough samples were judged, and no recorded reply is missing or stale.
pub(crate) fn is_measured(record: &CalibrationRecord) -> bool {
    let enough = at_least(f64::from(record.counts.valid), VALID * f64::from(record.counts.samples));
    record.statistics.is_some() && enough && !lacks_recordings(record)
}

/// Whether replies of a sample were to be replayed, and are not there or belong to something else.
pub(crate) fn lacks_recordings(record: &CalibrationRecord) -> bool {
    record.samples.iter().filter_map(|sample| sample.code).any(is_of_recording)
}

/// Whether a reply was to be replayed, and is not there or belongs to something else.
pub(crate) fn is_of_recording(code: ReasonCode) -> bool {
    matches!(code, ReasonCode::RecordingMissing | ReasonCode::RecordingStale)
}

/// Whether a person's score and a judge's agree.
pub(crate) fn agree(human: f64, judge: f64, tolerance: f64) -> bool {
    at_most((human - judge).abs(), tolerance)
}

/// The statistics of pairs of a person's and a judge's score; `None` of fewer than two.
fn agreement_of(pairs: &[(f64, f64)], tolerance: f64, threshold: f64) -> Option<CalibrationStatistics> {
    if pairs.len() < 2 {
        return None;
    }
    let (human, judge): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let mut statistics = CalibrationStatistics::default();
    let agreeing = pairs.iter().filter(|(h, j)| agree(*h, *j, tolerance)).count();
    statistics.agreement = ratio(agreeing, pairs.len());
    statistics.kappa = kappa(pairs, threshold);
    statistics.spearman = pearson(&ranks(&human), &ranks(&judge));
    statistics.pearson = pearson(&human, &judge);
    statistics.mae = mean(pairs.iter().map(|(h, j)| (h - j).abs()));
    statistics.bias = mean(pairs.iter().map(|(h, j)| j - h));
    Some(statistics)
}

/// Cohen's κ (1960) of two raters that say pass or fail. Where chance alone explains everything it is 1 if they agree
/// throughout, else 0.
fn kappa(pairs: &[(f64, f64)], threshold: f64) -> f64 {
    let count = |fits: &dyn Fn(bool, bool) -> bool| {
        let passes = |score: &f64| at_least(*score, threshold);
        number(pairs.iter().filter(|(h, j)| fits(passes(h), passes(j))).count())
    };
    // Whole numbers, so that what is no more than chance is exactly 0.
    let (all, human, judge) = (number(pairs.len()), count(&|human, _| human), count(&|_, judge| judge));
    let observed = all * count(&|human, judge| human == judge);
    let by_chance = human * judge + (all - human) * (all - judge);
    if by_chance >= all * all {
        return if observed >= all * all { 1.0 } else { 0.0 };
    }
    (observed - by_chance) / (all * all - by_chance)
}

/// Pearson's correlation; 0 where one list does not vary.
fn pearson(a: &[f64], b: &[f64]) -> f64 {
    // A mean of equal numbers can be off by a little, and would make a variance of nothing.
    let varies = |list: &[f64]| list.iter().any(|value| (value - list[0]).abs() > 0.0);
    if !varies(a) || !varies(b) {
        return 0.0;
    }
    let (mean_a, mean_b) = (mean(a.iter().copied()), mean(b.iter().copied()));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 { a.iter().zip(b).map(|(a, b)| of(a - mean_a, b - mean_b)).sum() };
    let (covariance, a2, b2) = (sum(&|a, b| a * b), sum(&|a, _| a * a), sum(&|_, b| b * b));
    (covariance / (a2 * b2).sqrt()).clamp(-1.0, 1.0)
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for tied in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let rank = number(2 * start + tied.len() + 1) / 2.0;
        tied.iter().for_each(|index| ranks[*index] = rank);
        start += tied.len();
    }
    ranks
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    exact_sums::mean(&values.collect::<Vec<_>>()).unwrap_or_default()
}

#[allow(clippy::cast_precision_loss, reason = "there are at most a thousand samples")]
fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_requirement_is_met_at_its_limit() {
        let mut bar = Bar::default();
        (bar.mae, bar.agreement) = (Some(0.2), Some(1.0));
        let mut counts = SampleCounts::default();
        (counts.samples, counts.valid) = (3, 3);
        // Each difference is a little more than 0.2 in binary.
        let of = |judge: f64| super::agreement_of(&[(0.9, judge); 3], 0.2, 0.8).expect("enough pairs");
        assert_eq!(shortfalls(&bar, &counts, Some(&of(0.7))), []);
        assert_eq!(shortfalls(&bar, &counts, Some(&of(0.69))).len(), 2);
        assert_eq!(shortfalls(&bar, &counts, Some(&of(0.7 - 1e-10))).len(), 2, "this is no rounding");
    }

    fn of_lists(human: &[f64], judge: &[f64]) -> CalibrationStatistics {
        let pairs: Vec<(f64, f64)> = human.iter().copied().zip(judge.iter().copied()).collect();
        agreement_of(&pairs, 0.15, 0.8).unwrap()
    }

    #[test]
    fn the_same_scores_agree_in_every_way() {
        let scores = [0.0, 0.3, 0.5, 0.9, 1.0];
        let same = of_lists(&scores, &scores);
        assert_eq!((same.pearson, same.spearman, same.mae, same.bias), (1.0, 1.0, 0.0, 0.0));
        assert_eq!((same.kappa, same.agreement), (1.0, 1.0));
    }

    #[test]
    fn reversed_ranks_correlate_negatively() {
        let reversed = of_lists(&[0.1, 0.2, 0.3, 0.9], &[0.9, 0.3, 0.2, 0.1]);
        assert!((reversed.spearman + 1.0).abs() < 1e-12, "{reversed:?}");
    }

    #[test]
    fn ties_share_their_mean_rank() {
        assert_eq!(ranks(&[0.5, 0.1, 0.5, 0.9, 0.5]), [3.0, 1.0, 3.0, 5.0, 3.0]);
        // scipy.stats.spearmanr([1, 2, 2, 3], [1, 3, 2, 4]) = 0.9486832980505138
        let tied = of_lists(&[0.1, 0.2, 0.2, 0.3], &[0.1, 0.3, 0.2, 0.4]);
        assert!((tied.spearman - 0.948_683_298_050_513_8).abs() < 1e-12, "{tied:?}");
    }

    #[test]
    fn kappa_is_that_of_the_textbook() {
        // The example of Cohen's κ with 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: 0.4.
        let cells = [(1.0, 1.0, 20), (1.0, 0.0, 5), (0.0, 1.0, 10), (0.0, 0.0, 15)];
        let pairs: Vec<(f64, f64)> = cells.iter().flat_map(|(h, j, count)| vec![(*h, *j); *count]).collect();
        assert!((agreement_of(&pairs, 0.15, 0.8).unwrap().kappa - 0.4).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_more_than_chance_is_exactly_nothing() {
        for passing in 0..=15 {
            let pairs: Vec<(f64, f64)> = (0..15).map(|index| (f64::from(u8::from(index < passing)), 0.0)).collect();
            let kappa = agreement_of(&pairs, 0.15, 0.8).unwrap().kappa;
            assert!(kappa.total_cmp(&if passing == 0 { 1.0 } else { 0.0 }).is_eq(), "{passing}: {kappa}");
        }
    }

    #[test]
    fn lists_that_do_not_vary_say_nothing() {
        let flat = of_lists(&[0.9, 0.9, 0.9], &[0.1, 0.5, 0.9]);
        assert_eq!((flat.pearson, flat.spearman), (0.0, 0.0));
        let all_pass = of_lists(&[0.9, 1.0], &[0.8, 0.9]);
        assert_eq!(all_pass.kappa, 1.0, "they agree, and chance would, too");
        assert_eq!(of_lists(&[1.0, 1.0], &[0.0, 0.0]).kappa, 0.0);
        assert_eq!(agreement_of(&[(1.0, 1.0)], 0.15, 0.8), None);
    }

    #[test]
    fn the_tolerance_is_meant_as_it_is_written() {
        assert!(agree(0.9, 0.75, 0.15), "0.9 - 0.75 is a little more than 0.15 in binary");
        assert!(!agree(0.9, 0.74, 0.15));
        assert_eq!(of_lists(&[0.8, 0.0], &[0.1 + 0.7, 0.0]).kappa, 1.0, "0.1 + 0.7 is a little less than 0.8");
    }

    proptest! {
        #[test]
        fn every_number_stays_in_its_range(pairs in prop::collection::vec((0.0..=1.0, 0.0..=1.0), 2..40)) {
            let found = agreement_of(&pairs, 0.15, 0.8).unwrap();
            for value in [found.kappa, found.spearman, found.pearson, found.bias] {
                prop_assert!((-1.0..=1.0).contains(&value), "{found:?}");
            }
            for value in [found.agreement, found.mae] {
                prop_assert!((0.0..=1.0).contains(&value), "{found:?}");
            }
            let swapped: Vec<(f64, f64)> = pairs.iter().map(|(h, j)| (*j, *h)).collect();
            let other = agreement_of(&swapped, 0.15, 0.8).unwrap();
            for (a, b) in [(found.kappa, other.kappa), (found.spearman, other.spearman), (found.bias, -other.bias)] {
                prop_assert!((a - b).abs() < 1e-12, "it does not matter who is the person");
            }
        }
    }
}
