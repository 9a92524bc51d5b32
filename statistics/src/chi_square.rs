//! The chi-square distribution.

use std::f64::consts::PI;

use crate::normal_at_most;

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

#[cfg(test)]
mod tests {
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
