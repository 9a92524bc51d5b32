//! Fisher's exact test of two rates.

/// Two-sided p-value of Fisher's exact test: whether two rates, each successes of observations, are the same.
pub(crate) fn fisher_two_sided(first: (u32, u32), second: (u32, u32)) -> f64 {
    let ((a, n), (b, m)) = (first, second);
    let successes = a + b;
    let log_probability =
        |in_first: u32| log_choose(n, in_first) + log_choose(m, successes - in_first) - log_choose(n + m, successes);
    let observed = log_probability(a) + 1e-9;
    let possible = successes.saturating_sub(m)..=successes.min(n);
    let total: f64 = possible.map(log_probability).filter(|log| *log <= observed).map(f64::exp).sum();
    total.min(1.0)
}

fn log_choose(n: u32, k: u32) -> f64 {
    (1..=k).map(|index| (f64::from(n - k + index) / f64::from(index)).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_literature() {
        let expected = [
            ((3, 3), (0, 3), 0.100),
            ((5, 5), (0, 5), 0.008),
            ((5, 5), (1, 5), 0.048),
            ((5, 5), (2, 5), 0.167),
            ((10, 10), (5, 10), 0.033),
            ((10, 10), (7, 10), 0.211),
        ];
        for (first, second, p) in expected {
            let found = fisher_two_sided(first, second);
            assert!((found - p).abs() < 5e-4, "{first:?} {second:?}: {found}");
        }
        assert!((fisher_two_sided((4, 5), (4, 5)) - 1.0).abs() < 1e-9);
    }
}
