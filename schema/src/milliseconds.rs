//! Durations as records say them.

use std::time::Duration;

/// A duration in milliseconds, as records hold it: whole microseconds and nanoseconds are its fraction.
#[allow(clippy::cast_precision_loss, reason = "2^53 nanoseconds are 104 days")]
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

/// The duration of a number of milliseconds in a record, to the nanosecond; `None` for a number that is not one.
#[doc(hidden)]
pub fn duration(milliseconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(milliseconds / 1e3).ok()
}
