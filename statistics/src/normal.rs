//! The standard normal distribution.

/// Probability that a standard normal number is at most as large.
pub fn normal_at_most(value: f64) -> f64 {
    0.5 * libm::erfc(-value / std::f64::consts::SQRT_2)
}
