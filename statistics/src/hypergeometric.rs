//! Fisher's exact test of two rates, one side.

/// The probabilities that at most 0, 1, 2 … of `n` trials passed, if `passed` of all `n + m` did and any of them could be among the `n`;
/// from the smallest number that is possible, as pairs of the number and its probability.
pub(crate) fn tails(passed: u32, n: u32, m: u32) -> Vec<(u32, f64)> {
    let log_choose = |n: u32, k: u32| log_choose(n as usize, k as usize);
    let log_probability = |among: u32| log_choose(n, among) + log_choose(m, passed - among) - log_choose(n + m, passed);
    let mut sum = 0.0;
    (passed.saturating_sub(m)..=passed.min(n))
        .map(|among| {
            sum += log_probability(among).exp();
            (among, f64::min(sum, 1.0))
        })
        .collect()
}

/// Logarithm of the number of ways to choose `k` of `n`.
pub(crate) fn log_choose(n: usize, k: usize) -> f64 {
    (1..=k).map(|index| ((n - k + index) as f64 / index as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_literature() {
        for (run, base, p) in [(0, 5, 0.004), (1, 5, 0.024), (2, 5, 0.083), (5, 5, 1.0)] {
            let tails = tails(run + base, 5, 5);
            let found = tails.iter().find(|(among, _)| *among == run).unwrap().1;
            assert!((found - p).abs() < 5e-4, "{run} of 5 after {base} of 5: {found}");
        }
        assert_eq!(tails(10, 5, 5), [(5, 1.0)], "where all pass, nothing else is possible");
        assert!((tails(1, 5, 1)[0].1 - 1.0 / 6.0).abs() < 1e-12);
    }
}
