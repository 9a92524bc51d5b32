//! Wilson's interval of a rate.

use std::collections::BTreeMap;

use crate::mean;

/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's score interval of a rate at 95 %: lower and upper end, 0 to 1; `None` without observations.
///
/// Unlike the normal approximation, it is never empty: 20 of 20 is 0.839 to 1.
///
/// ```
/// let (lower, upper) = evalsuite_statistics::wilson_interval(20, 20).expect("20 observations");
/// assert_eq!((format!("{lower:.3}"), upper), ("0.839".to_owned(), 1.0));
/// ```
pub fn wilson_interval(successes: u32, observations: u32) -> Option<(f64, f64)> {
    let successes = f64::from(successes.min(observations));
    (observations > 0).then(|| wilson(successes / f64::from(observations), f64::from(observations)))
}

/// Wilson's interval of the mean of values from 0 to 1, such as the shares of wins where a tie is half a win; `None` without values.
///
/// `clusters` has a number for each value; values of one cluster are not independent of each other. The number of observations is
/// Kish's: (Σm)² / Σm² for clusters of m values, which is the number of values if each is a cluster of its own. It is exact for values
/// that are equal in each cluster; and as no values between 0 and 1 vary more than zeros and ones of the same mean, the interval is never
/// too narrow for ties.
pub fn share_interval(values: &[f64], clusters: &[usize]) -> Option<(f64, f64)> {
    let mut sizes: BTreeMap<usize, f64> = BTreeMap::new();
    clusters.iter().for_each(|cluster| *sizes.entry(*cluster).or_default() += 1.0);
    let all: f64 = sizes.values().sum();
    let squares: f64 = sizes.values().map(|size| size * size).sum();
    (!values.is_empty()).then(|| wilson(mean(values), all * all / squares))
}

/// Wilson's interval of a rate in `n` observations.
fn wilson(rate: f64, n: f64) -> (f64, f64) {
    let z2 = Z * Z;
    let center = (rate + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends the formula gives 0 and 1 up to rounding.
    let lower = if rate <= 0.0 { 0.0 } else { (center - half).max(0.0) };
    let upper = if rate >= 1.0 { 1.0 } else { (center + half).min(1.0) };
    (lower, upper)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn intervals_are_those_of_the_literature() {
        let expected = [
            (20, 20, 0.839, 1.0),
            (50, 50, 0.929, 1.0),
            (100, 100, 0.963, 1.0),
            (200, 200, 0.981, 1.0),
            (18, 20, 0.699, 0.972),
            (48, 50, 0.865, 0.989),
        ];
        for (successes, observations, lower, upper) in expected {
            let found = wilson_interval(successes, observations).unwrap();
            assert!(
                (found.0 - lower).abs() < 5e-4 && (found.1 - upper).abs() < 5e-4,
                "{successes}/{observations}: {found:?}"
            );
        }
        assert_eq!(wilson_interval(0, 5).unwrap().0, 0.0);
        assert_eq!(wilson_interval(0, 0), None);
    }

    #[test]
    fn without_ties_and_clusters_a_share_is_a_rate() {
        let wins: Vec<f64> = (0..20).map(|index| if index < 18 { 1.0 } else { 0.0 }).collect();
        let apart: Vec<usize> = (0..20).collect();
        assert_eq!(share_interval(&wins, &apart), wilson_interval(18, 20));
        assert_eq!(share_interval(&[], &[]), None);
        // Two values of a cluster that are always equal are one observation.
        let (twice, pairs): (Vec<f64>, Vec<usize>) = (0..40).map(|index| (wins[index / 2], index / 2)).unzip();
        assert_eq!(share_interval(&twice, &pairs), wilson_interval(18, 20));
    }

    #[test]
    fn intervals_of_shares_contain_the_truth_often_enough() {
        let mut random = Rng::with_seed(7);
        for (win, tie) in [(0.5, 0.0), (0.3, 0.4), (0.8, 0.1), (0.0, 1.0), (0.1, 0.8)] {
            let truth = win + tie / 2.0;
            let mut value = || match random.f64() {
                drawn if drawn < win => 1.0,
                drawn if drawn < win + tie => 0.5,
                _ => 0.0,
            };
            let contains = |_: &u32| {
                let values: Vec<f64> = (0..25).map(|_| value()).collect();
                let (lower, upper) = share_interval(&values, &(0..25).collect::<Vec<_>>()).unwrap();
                lower <= truth && truth <= upper
            };
            let covered = (0..2_000_u32).filter(contains).count();
            assert!(covered >= 1_870, "{win} wins and {tie} ties: {covered} of 2000");
        }
    }
}
