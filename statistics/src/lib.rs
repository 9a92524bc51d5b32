//! Statistics of rates and of paired differences. Everything random has a fixed seed: equal data give equal results.

mod boschloo;
mod chi_square;
mod exchange;
mod holm;
mod hypergeometric;
mod moments;
mod normal;
mod permutation;
mod prediction_powered;
mod single_cases;
mod student;
#[cfg(test)]
mod tests;
mod wilson;

pub use self::chi_square::chi_square_at_least;
pub use self::exchange::{ExchangeTest, Exchanged, Unit, exchange_tests, smallest_p_value, standardised_sum};
pub use self::holm::holm;
pub use self::moments::{mean, standard_deviation};
pub use self::normal::normal_at_most;
pub use self::permutation::sign_flip_p_value;
pub use self::prediction_powered::{CorrectedRate, corrected_rate};
pub use self::single_cases::{CaseTrials, End, Series, Worse, worse_cases};
pub use self::student::student_at_most;
pub use self::wilson::share_interval;
pub use self::wilson::wilson_interval;

/// A p-value as people read it after `p`. None is 0: `p < 0.001`.
pub fn shown_p(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}
