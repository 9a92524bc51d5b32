//! Statistics of the agreement of two lists of scores.
//!
//! Hand-written: `statrs` has neither Cohen's κ nor Spearman's ρ, and Pearson's r of two lists is five lines.

use evalsuite_records::record::CalibrationStatistics;
use evalsuite_records::statistics::ratio;
use evalsuite_records::sums;
use evalsuite_schema::decimal::{at_least, at_most};

/// Whether a person's score and a judge's agree.
pub(crate) fn agree(human: f64, judge: f64, tolerance: f64) -> bool {
    at_most((human - judge).abs(), tolerance)
}

/// The statistics of pairs of a person's and a judge's score; `None` of fewer than two.
pub(crate) fn of(pairs: &[(f64, f64)], tolerance: f64, threshold: f64) -> Option<CalibrationStatistics> {
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
    sums::mean(&values.collect::<Vec<_>>()).unwrap_or_default()
}

#[allow(clippy::cast_precision_loss, reason = "there are at most a thousand samples")]
fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_lists(human: &[f64], judge: &[f64]) -> CalibrationStatistics {
        let pairs: Vec<(f64, f64)> = human.iter().copied().zip(judge.iter().copied()).collect();
        of(&pairs, 0.15, 0.8).unwrap()
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
        assert!((of(&pairs, 0.15, 0.8).unwrap().kappa - 0.4).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_more_than_chance_is_exactly_nothing() {
        for passing in 0..=15 {
            let pairs: Vec<(f64, f64)> = (0..15).map(|index| (f64::from(u8::from(index < passing)), 0.0)).collect();
            let kappa = of(&pairs, 0.15, 0.8).unwrap().kappa;
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
        assert_eq!(of(&[(1.0, 1.0)], 0.15, 0.8), None);
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
            let found = of(&pairs, 0.15, 0.8).unwrap();
            for value in [found.kappa, found.spearman, found.pearson, found.bias] {
                prop_assert!((-1.0..=1.0).contains(&value), "{found:?}");
            }
            for value in [found.agreement, found.mae] {
                prop_assert!((0.0..=1.0).contains(&value), "{found:?}");
            }
            let swapped: Vec<(f64, f64)> = pairs.iter().map(|(h, j)| (*j, *h)).collect();
            let other = of(&swapped, 0.15, 0.8).unwrap();
            for (a, b) in [(found.kappa, other.kappa), (found.spearman, other.spearman), (found.bias, -other.bias)] {
                prop_assert!((a - b).abs() < 1e-12, "it does not matter who is the person");
            }
        }
    }
}
