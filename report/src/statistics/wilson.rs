//! Wilson's interval of a rate.

/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's score interval of a rate at 95 %: lower and upper end, 0 to 1; `None` without observations.
///
/// Unlike the normal approximation, it is never empty: 20 of 20 is 0.839 to 1.
///
/// ```
/// let (lower, upper) = evalsuite_report::wilson_interval(20, 20).expect("20 observations");
/// assert_eq!((format!("{lower:.3}"), upper), ("0.839".to_owned(), 1.0));
/// ```
pub fn wilson_interval(successes: u32, observations: u32) -> Option<(f64, f64)> {
    if observations == 0 {
        return None;
    }
    let (n, rate) = (f64::from(observations), f64::from(successes.min(observations)) / f64::from(observations));
    let z2 = Z * Z;
    let center = (rate + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends the formula gives 0 and 1 up to rounding.
    let lower = if successes == 0 { 0.0 } else { (center - half).max(0.0) };
    let upper = if successes >= observations { 1.0 } else { (center + half).min(1.0) };
    Some((lower, upper))
}

#[cfg(test)]
mod tests {
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
}
