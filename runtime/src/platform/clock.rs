//! The current time as text, times of what takes a while, and random additions to waits, so that parallel tests do not retry at the same
//! moment.
//!
//! Hand-written: the standard library's hash keys are random enough, and `fastrand` would be a dependency for one number.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

/// Now as RFC 3339 in UTC with milliseconds.
pub(crate) fn timestamp() -> String {
    as_text(SystemTime::now())
}

fn as_text(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(with_four_digit_year(time)).to_string()
}

/// When something began. Its end is as much later as it took: the clock of the system may be set meanwhile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    wall: SystemTime,
    clock: Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { wall: SystemTime::now(), clock: Instant::now() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    /// How long it took until another one was started.
    #[cfg(feature = "capture")]
    pub(crate) fn until(&self, end: &Self) -> Duration {
        end.clock.saturating_duration_since(self.clock)
    }

    pub(crate) fn started_at(&self) -> String {
        as_text(self.wall)
    }

    /// The time after this much of it, as [`timestamp`].
    pub(crate) fn after(&self, took: Duration) -> String {
        as_text(self.wall.checked_add(took).unwrap_or(self.wall))
    }
}

/// A time as `YYYYMMDDTHHMMSSZ`, for names.
pub(crate) fn compact_timestamp(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(with_four_digit_year(time)).to_string().replace(['-', ':'], "")
}

/// The time, or the nearest one that `humantime` can write: a clock that was never set may be before 1970.
fn with_four_digit_year(time: SystemTime) -> SystemTime {
    let latest = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799);
    time.clamp(SystemTime::UNIX_EPOCH, latest)
}

/// Jitter lengthens a wait by at most this share of it.
pub(crate) const JITTER: f64 = 0.5;

/// The wait, lengthened by a random share of it.
pub(crate) fn with_jitter(wait: Duration) -> Duration {
    // Each `RandomState` has keys of its own.
    let number = u32::try_from(RandomState::new().hash_one(0_u8) >> 32).unwrap_or_default();
    wait.mul_f64(1.0 + JITTER * f64::from(number) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::rfc3339;

    use super::*;

    #[test]
    fn timestamps_are_rfc3339() {
        assert!(rfc3339::parse(&timestamp()).is_some(), "{}", timestamp());
        assert_eq!(timestamp().len(), "2026-01-04T09:15:00.123Z".len());
        assert_eq!(compact_timestamp(SystemTime::now()).len(), "20260104T091500Z".len());
    }

    #[test]
    fn a_clock_that_is_wrong_is_no_panic() {
        let (century, epoch) = (Duration::from_secs(100 * 365 * 86_400), SystemTime::UNIX_EPOCH);
        assert_eq!(compact_timestamp(epoch - century), "19700101T000000Z");
        assert_eq!(compact_timestamp(epoch + 100 * century), "99991231T235959Z");
        let written = |time| humantime::format_rfc3339_millis(with_four_digit_year(time)).to_string();
        assert_eq!(written(epoch - Duration::from_millis(1)), "1970-01-01T00:00:00.000Z");
    }
}
