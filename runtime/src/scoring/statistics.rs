//! Statistics of the trials of a case.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::record::Stability;

use crate::score::ratio;

/// Two-sided 95 % quantiles of Student's t distribution for 1 to 29 degrees of freedom.
const T: [f64; 29] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
];

/// The same quantile of the normal distribution, for 30 and more degrees of freedom.
const Z: f64 = 1.960;

/// Mean and spread of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summary {
    pub(crate) mean: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// With n − 1; 0 for one score.
    pub(crate) stddev: f64,
    /// Ends of the 95 % confidence interval of the mean, cut to 0 to 1.
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Summary {
    /// `None` without scores.
    #[allow(clippy::cast_precision_loss, reason = "numbers of trials are far below 2^53")]
    pub(crate) fn of(scores: &[f64]) -> Option<Self> {
        let n = scores.len() as f64;
        let (first, rest) = scores.split_first()?;
        let mean = scores.iter().sum::<f64>() / n;
        let min = rest.iter().copied().fold(*first, f64::min);
        let max = rest.iter().copied().fold(*first, f64::max);
        if rest.is_empty() {
            return Some(Self { mean, min, max, stddev: 0.0, lower: mean, upper: mean });
        }
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        let stddev = (squares / (n - 1.0)).sqrt();
        let half = T.get(rest.len() - 1).copied().unwrap_or(Z) * stddev / n.sqrt();
        Some(Self {
            mean,
            min,
            max,
            stddev,
            lower: (mean - half).clamp(0.0, 1.0),
            upper: (mean + half).clamp(0.0, 1.0),
        })
    }
}

/// Probability that at least one of k trials drawn from n, of which c passed, has passed; `None` for k > n.
pub(crate) fn pass_at_k(n: usize, c: usize, k: usize) -> Option<f64> {
    if k > n {
        return None;
    }
    if n - c < k {
        return Some(1.0);
    }
    Some(1.0 - (0..k).map(|i| ratio(n - c - i, n - i)).product::<f64>())
}

/// Probability that all of k trials drawn from n, of which c passed, have passed; `None` for k > n.
pub(crate) fn pass_hat_k(n: usize, c: usize, k: usize) -> Option<f64> {
    if k > n {
        return None;
    }
    if c < k {
        return Some(0.0);
    }
    Some((0..k).map(|i| ratio(c - i, n - i)).product())
}

/// Values of one of the two above for every reported k.
pub(crate) fn by_k(n: usize, value: impl Fn(usize) -> Option<f64>) -> BTreeMap<u32, Option<f64>> {
    let ks: BTreeSet<usize> = [1, 2, 3, 5, 10, n].into_iter().filter(|k| (1..=n).contains(k)).collect();
    ks.into_iter().filter_map(|k| Some((u32::try_from(k).ok()?, value(k)))).collect()
}

/// Whether n trials, of which c passed, agree; `None` for fewer than two.
pub(crate) fn stability(n: usize, c: usize) -> Option<Stability> {
    match c {
        _ if n < 2 => None,
        0 => Some(Stability::StableFail),
        c if c == n => Some(Stability::StablePass),
        _ => Some(Stability::Flaky),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-6, "{actual} is not {expected}");
    }

    #[test]
    fn pass_at_k_and_pass_hat_k_follow_the_table() {
        let table = [
            (1, 0, 1, 0.0, 0.0),
            (4, 1, 1, 0.25, 0.25),
            (4, 2, 2, 5.0 / 6.0, 1.0 / 6.0),
            (5, 2, 3, 0.9, 0.0),
            (10, 0, 5, 0.0, 0.0),
            (5, 3, 3, 1.0, 0.1),
            (5, 4, 3, 1.0, 0.4),
            (2, 1, 2, 1.0, 0.0),
            (10, 8, 3, 1.0, 7.0 / 15.0),
        ];
        for (n, c, k, at, hat) in table {
            close(pass_at_k(n, c, k).unwrap(), at);
            close(pass_hat_k(n, c, k).unwrap(), hat);
        }
        assert_eq!((pass_at_k(2, 2, 5), pass_hat_k(2, 2, 5)), (None, None));
    }

    #[test]
    fn intervals_follow_the_vectors() {
        let summary = Summary::of(&[0.6, 0.8, 1.0]).unwrap();
        close(summary.mean, 0.8);
        close(summary.stddev, 0.2);
        close(summary.lower, 0.303_132);
        close(summary.upper, 1.0);
        let summary = Summary::of(&[0.7, 0.8, 0.8, 0.9, 0.85]).unwrap();
        close(summary.mean, 0.81);
        close(summary.stddev, 0.074_162);
        close(summary.lower, 0.717_930);
        close(summary.upper, 0.902_070);
        let summary = Summary::of(&[1.0, 0.0]).unwrap();
        assert_eq!((summary.mean, summary.lower, summary.upper), (0.5, 0.0, 1.0));
        let one = Summary::of(&[0.7]).unwrap();
        assert_eq!((one.lower, one.upper, one.stddev), (0.7, 0.7, 0.0));
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn every_k_up_to_n_is_reported() {
        let keys = |n| by_k(n, |_| Some(0.0)).into_keys().collect::<Vec<_>>();
        assert_eq!(keys(1), [1]);
        assert_eq!(keys(4), [1, 2, 3, 4]);
        assert_eq!(keys(12), [1, 2, 3, 5, 10, 12]);
        assert!(keys(0).is_empty());
    }

    #[test]
    fn trials_that_disagree_are_flaky() {
        assert_eq!(stability(1, 1), None);
        assert_eq!(stability(3, 3), Some(Stability::StablePass));
        assert_eq!(stability(3, 0), Some(Stability::StableFail));
        assert_eq!(stability(3, 1), Some(Stability::Flaky));
    }
}
