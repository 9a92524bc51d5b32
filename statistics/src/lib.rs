//! Statistics of rates and of paired differences. Everything random has a fixed seed: equal data give equal results.
//!
//! This crate is a part of evalsuite, whose crates require each other at exactly one version. Only what `evalsuite` exports by name is a
//! stable API.

mod distributions;
mod exchange;
mod intervals;
mod permutation;
mod rates;
mod single_cases;
#[cfg(test)]
mod tests;

pub use self::distributions::{chi_square_at_least, mean, normal_at_most, standard_deviation, student_at_most};
pub use self::exchange::{ExchangeTest, Exchanged, Unit, exchange_tests, smallest_p_value, standardised_sum};
pub use self::intervals::{CorrectedRate, corrected_rate, share_interval, wilson_interval};
pub use self::permutation::{holm, sign_flip_p_value};
pub use self::single_cases::{CaseTrials, End, Series, Worse, worse_cases};

/// A p-value as people read it after `p`. None is 0: `p < 0.001`.
pub fn shown_p(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}
