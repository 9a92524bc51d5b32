//! Jitter: random additions to waits, so that parallel tests do not retry at the same moment.
//!
//! Hand-written: the standard library's hash keys are random enough, and `fastrand` would be a dependency for one
//! number.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Jitter lengthens a wait by at most this share of it.
pub(crate) const JITTER: f64 = 0.5;

/// The wait, lengthened by a random share of it.
pub(crate) fn with_jitter(wait: Duration) -> Duration {
    // Each `RandomState` has keys of its own.
    let number = u32::try_from(RandomState::new().hash_one(0_u8) >> 32).unwrap_or_default();
    wait.mul_f64(1.0 + JITTER * f64::from(number) / f64::from(u32::MAX))
}
