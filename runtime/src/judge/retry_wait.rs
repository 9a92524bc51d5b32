//! The wait before a judge is called again: exponential back-off with jitter, so that parallel tests do not retry at
//! the same moment.

use std::time::Duration;

use crate::platform::jitter::with_jitter;

/// Wait after the first failed call; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Longest wait that a judge may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The wait after `failed` failed calls, at least 1. `asked` is the wait that the judge asks for, which is never shortened
/// below [`LONGEST_WAIT`].
pub(crate) fn retry_wait(asked: Option<Duration>, failed: u32) -> Duration {
    with_jitter(wait_without_jitter(asked, failed))
}

fn wait_without_jitter(asked: Option<Duration>, failed: u32) -> Duration {
    let own = || FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failed.saturating_sub(1)));
    asked.unwrap_or_else(own).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::jitter::JITTER;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_wait_doubles_unless_the_judge_asks_for_another_and_has_a_limit() {
        assert_eq!([1, 2, 3].map(|failed| wait_without_jitter(None, failed)), [SECOND, 2 * SECOND, 4 * SECOND]);
        assert_eq!(wait_without_jitter(Some(7 * SECOND), 2), 7 * SECOND);
        assert_eq!(wait_without_jitter(Some(Duration::MAX), 1), LONGEST_WAIT);
        assert_eq!(wait_without_jitter(None, 99), LONGEST_WAIT);
        assert_eq!(retry_wait(Some(Duration::ZERO), 1), Duration::ZERO);
    }

    #[test]
    fn two_retry_schedules_differ_and_stay_in_bounds() {
        let schedule = |asked| [1, 2, 3, 4].map(|failed| retry_wait(asked, failed));
        for asked in [None, Some(3 * SECOND), Some(Duration::MAX)] {
            let (one, other) = (schedule(asked), schedule(asked));
            assert_ne!(one, other);
            for (failed, wait) in (1..).zip(one) {
                let shortest = wait_without_jitter(asked, failed);
                assert!(shortest <= wait && wait <= shortest.mul_f64(1.0 + JITTER), "{wait:?} after {failed} calls");
            }
        }
    }
}
