//! The binomial distribution.

/// The probabilities that 0, 1, 2 … of so many trials pass, each at this rate, above 0 and below 1.
///
/// By logarithms: powers and coefficients of thousands of trials are no finite numbers.
pub fn binomial(trials: u32, rate: f64) -> impl Iterator<Item = f64> {
    let odds = (rate / (1.0 - rate)).ln();
    let mut next = f64::from(trials) * (1.0 - rate).ln();
    (0..=trials).map(move |passed| {
        let logarithm = next;
        next += (f64::from(trials - passed) / (f64::from(passed) + 1.0)).ln() + odds;
        logarithm.exp()
    })
}

/// Probability that at most so many of them pass.
pub fn binomial_at_most(passed: u32, trials: u32, rate: f64) -> f64 {
    binomial(trials, rate).take(passed as usize + 1).sum::<f64>().min(1.0)
}

/// Probability that at least so many of them pass.
pub fn binomial_at_least(passed: u32, trials: u32, rate: f64) -> f64 {
    binomial(trials, rate).skip(passed as usize).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_tables() {
        for (most, n, rate, expected) in
            [(0, 5, 0.5, 0.031_25), (2, 5, 0.5, 0.5), (5, 5, 0.3, 1.0), (1, 10, 0.1, 0.736_1), (1, 3, 0.5, 0.5)]
        {
            assert!((binomial_at_most(most, n, rate) - expected).abs() < 1e-4, "{most} of {n} at {rate}");
        }
        assert!(
            (binomial_at_most(1, 3, 0.5) - 0.5).abs() < 1e-12 && (binomial_at_least(1, 3, 0.5) - 0.875).abs() < 1e-12
        );
        assert!((binomial(4, 0.3).sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn many_trials_neither_vanish_nor_overflow() {
        assert!((binomial_at_most(1_000, 2_000, 0.5) - 0.508_9).abs() < 1e-4);
        assert!((binomial_at_least(0, 2_000, 0.3) - 1.0).abs() < 1e-9);
        assert!((binomial_at_least(2_000, 2_000, 0.999) - 0.999_f64.powi(2_000)).abs() < 1e-9);
        assert!((binomial_at_most(50_000, 100_000, 0.5) - 0.501_3).abs() < 1e-4);
    }
}
