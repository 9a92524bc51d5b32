//! Statistics of rates and of paired differences. Everything random has a fixed seed: equal data give equal results.

mod bootstrap;
mod differences;
mod fisher;
mod holm;
mod permutation;
mod prediction_powered;
#[cfg(test)]
mod tests;
mod wilson;

pub use self::bootstrap::paired_interval;
pub(crate) use self::differences::{mean, smallest_visible_effect, standard_deviation};
pub(crate) use self::fisher::fisher_two_sided;
pub(crate) use self::holm::holm;
pub(crate) use self::permutation::sign_flip_p_value;
pub use self::prediction_powered::{CorrectedRate, corrected_rate};
pub(crate) use self::wilson::share_interval;
pub use self::wilson::wilson_interval;
