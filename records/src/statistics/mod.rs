//! Statistics of the trials of a case.
//!
//! Hand-written: sums and a recurrence, for which every user would compile a statistics crate such as `statrs`.

mod binomial;
mod bounded_interval;
mod guaranteed_interval;
#[cfg(test)]
pub mod tests;

use std::collections::BTreeMap;

use evalsuite_schema::sorting::{map, set};

use crate::record::Stability;
use crate::sums::mean;

pub use self::binomial::{binomial, binomial_at_least, binomial_at_most};
pub use self::bounded_interval::{bounded_interval, t_quantile};
pub use self::guaranteed_interval::{guaranteed_interval, largest_lower_end, scores_to_reach};

/// Mean and spread of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    pub mean: f64,
    pub min: f64,
    pub max: f64,
    /// Sample standard deviation (n − 1); 0 for one score.
    pub stddev: f64,
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
            return Some(Self { mean, min, max, stddev: 0.0 });
        }
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        Some(Self { mean, min, max, stddev: (squares / (n - 1.0)).sqrt() })
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
    let ks = set([1, 2, 3, 5, 10, n].into_iter().filter(|k| (1..=n).contains(k)));
    map(ks.into_iter().filter_map(|k| Some((u32::try_from(k).ok()?, value(k)))))
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
