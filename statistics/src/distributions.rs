//! Mean and standard deviation; the standard normal, the chi-square and Student's t distribution.

use std::f64::consts::{FRAC_2_PI, PI};

use evalsuite_records::exact_sums;

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    exact_sums::mean(values).unwrap_or_default()
}

/// The standard deviation (n − 1); `None` of fewer than two.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| (squares / (values.len() as f64 - 1.0)).sqrt())
}

/// Probability that a standard normal number is at most as large.
pub fn normal_at_most(value: f64) -> f64 {
    0.5 * libm::erfc(-value / std::f64::consts::SQRT_2)
}

/// Probability of a value that is at least as large, with so many degrees of freedom, at least 1 (Abramowitz and Stegun 1964, 26.4.4 and 5).
pub fn chi_square_at_least(value: f64, degrees: usize) -> f64 {
    let value = value.max(0.0);
    let is_odd = degrees % 2 == 1;
    // Even degrees: e^(−x/2) · (1 + x/2 + x²/(2·4) + …); odd ones: 2·Q(√x) + √(2/π) · e^(−x/2) · (√x + x√x/3 + …).
    let (mut sum, mut term) =
        if is_odd { (2.0 * normal_at_most(-value.sqrt()), (2.0 / PI).sqrt()) } else { (0.0, 1.0) };
    term *= (-value / 2.0).exp();
    if is_odd {
        term *= value.sqrt();
    }
    for factor in (if is_odd { 3 } else { 2 }..=degrees).step_by(2) {
        sum += term;
        term *= value / factor as f64;
    }
    sum.min(1.0)
}

/// Probability of a value that is at most as large, with so many degrees of freedom, at least 1 (Abramowitz and Stegun 1964, 26.7.3 and 4).
pub fn student_at_most(value: f64, degrees: usize) -> f64 {
    let angle = (value / (degrees as f64).sqrt()).atan();
    let squared = angle.cos().powi(2);
    // 1 + a·c² + a·b·c⁴ + …, where even degrees have the factors 1/2, 3/4, …, and odd ones 2/3, 4/5, …
    let is_odd = degrees % 2 == 1;
    let (mut term, mut sum) = (1.0, 1.0);
    for step in (if is_odd { 3 } else { 2 }..degrees).step_by(2) {
        term *= squared * (step - 1) as f64 / step as f64;
        sum += term;
    }
    let between = match (is_odd, degrees) {
        (true, 1) => FRAC_2_PI * angle,
        (true, _) => FRAC_2_PI * (angle + angle.sin() * angle.cos() * sum),
        (false, _) => angle.sin() * sum,
    };
    (1.0 + between) / 2.0
}

#[cfg(test)]
mod chi_square_tests {
    use super::*;

    #[test]
    fn quantiles_of_tables() {
        let table = [(1, 3.841), (2, 5.991), (3, 7.815), (4, 9.488), (5, 11.070), (10, 18.307), (19, 30.144)];
        for (degrees, quantile) in table {
            assert!((chi_square_at_least(quantile, degrees) - 0.05).abs() < 1e-4, "{degrees}");
            assert!((chi_square_at_least(0.0, degrees) - 1.0).abs() < 1e-9, "{degrees}");
        }
        assert!((chi_square_at_least(2.706, 1) - 0.1).abs() < 1e-4);
    }
}

#[cfg(test)]
mod student_tests {
    use super::*;

    #[test]
    fn quantiles_of_tables() {
        let table =
            [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (10, 2.228), (11, 2.201), (30, 2.042)];
        for (degrees, quantile) in table {
            assert!((student_at_most(quantile, degrees) - 0.975).abs() < 1e-4, "{degrees}");
            assert!((student_at_most(-quantile, degrees) - 0.025).abs() < 1e-4, "{degrees}");
        }
        for degrees in [1, 2, 7, 20] {
            assert!((student_at_most(0.0, degrees) - 0.5).abs() < 1e-12, "{degrees}");
        }
    }
}
