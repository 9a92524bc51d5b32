//! Statistics of the trials of a case.
//!
//! Hand-written: sums and one table of quantiles, for which every user would compile a statistics crate such as `statrs`.

mod bounded_interval;
#[cfg(test)]
pub mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::record::Stability;
use crate::sums::mean;

pub use self::bounded_interval::{bounded_interval, t_quantile};

/// Two-sided 95 % quantiles of Student's t distribution for 1 to 29 degrees of freedom.
const T: [f64; 29] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
];

/// The same quantile of the normal distribution, for 30 and more degrees of freedom.
const Z: f64 = 1.960;

/// Mean and spread of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    pub mean: f64,
    pub min: f64,
    pub max: f64,
    /// Sample standard deviation (n − 1); 0 for one score.
    pub stddev: f64,
    /// Bounds of the 95 % confidence interval of the mean, clamped to 0 to 1.
    pub lower: f64,
    pub upper: f64,
}

impl Summary {
    /// `None` without scores.
    pub fn of(scores: &[f64]) -> Option<Self> {
        let n = scores.len() as f64;
        let (first, rest) = scores.split_first()?;
        let mean = mean(scores)?;
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

/// `part / whole` as a number from 0 to 1.
pub fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// Probability that at least one of k trials drawn from n trials passed, if c of the n passed; `None` for k > n.
pub fn pass_at_k(n: usize, c: usize, k: usize) -> Option<f64> {
    if k > n {
        return None;
    }
    if n - c < k {
        return Some(1.0);
    }
    Some(1.0 - (0..k).map(|i| ratio(n - c - i, n - i)).product::<f64>())
}

/// Probability that all of k trials drawn from n trials passed, if c of the n passed; `None` for k > n.
pub fn pass_hat_k(n: usize, c: usize, k: usize) -> Option<f64> {
    if k > n {
        return None;
    }
    if c < k {
        return Some(0.0);
    }
    Some((0..k).map(|i| ratio(c - i, n - i)).product())
}

/// Values of `pass_at_k` or `pass_hat_k` for every reported k.
pub fn by_k(n: usize, value: impl Fn(usize) -> Option<f64>) -> BTreeMap<u32, Option<f64>> {
    let ks: BTreeSet<usize> = [1, 2, 3, 5, 10, n].into_iter().filter(|k| (1..=n).contains(k)).collect();
    ks.into_iter().filter_map(|k| Some((u32::try_from(k).ok()?, value(k)))).collect()
}

/// Whether n trials have the same result, if c of them passed; `None` for fewer than two.
pub fn stability(n: usize, c: usize) -> Option<Stability> {
    match c {
        _ if n < 2 => None,
        0 => Some(Stability::StableFail),
        c if c == n => Some(Stability::StablePass),
        _ => Some(Stability::Flaky),
    }
}
