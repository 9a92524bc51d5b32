//! Student's t distribution.

use std::f64::consts::FRAC_2_PI;

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
mod tests {
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
