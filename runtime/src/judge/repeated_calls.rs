//! Repeated calls of a judge, until its reply can be read.

use std::fmt::Display;
use std::thread;
use std::time::Duration;

use evalsuite_records::record::ReasonCode;

use crate::model::judge::{JudgeError, JudgeReply};
use crate::platform::jitter::with_jitter;

/// Calls until a reply can be read; one more asks to repair the last one.
const ATTEMPTS: u32 = 3;

/// Wait after the first failed call; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Longest wait that a judge may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallPurpose<'a> {
    /// The judge answers the question.
    Answer,
    /// The judge rewrites a reply that cannot be read.
    Repair { reply: &'a str, problem: &'a str },
}

/// Why there is no reply that can be read.
#[derive(Debug)]
pub(crate) struct JudgeFailure {
    pub(crate) message: String,
    pub(crate) code: ReasonCode,
}

/// Calls a judge until its reply can be read; after the last attempt, asks it once to repair a reply that cannot. `read` returns
/// what is wrong with a reply. `limit` is the time limit of a call, and of all waits between calls.
pub(crate) fn until_readable<T, E: Display>(
    judge: &str,
    limit: Duration,
    mut call: impl FnMut(CallPurpose<'_>) -> Result<JudgeReply, JudgeError>,
    mut read: impl FnMut(&JudgeReply) -> Result<T, E>,
) -> Result<T, JudgeFailure> {
    let refused = |error: &JudgeError| JudgeFailure {
        message: format!("judge `{judge}`: {error}"),
        code: error.code().unwrap_or(ReasonCode::JudgeError),
    };
    let mut read = |reply: &JudgeReply| {
        read(reply).map_err(|defect| match reply.is_cut_off {
            true => format!("{defect} (the service ended the reply at a limit of tokens: `finish_reason` is `length`)"),
            false => defect.to_string(),
        })
    };
    let mut unreadable: Option<(String, String)> = None;
    let mut problem = String::new();
    let mut left = limit;
    for attempt in 0..ATTEMPTS {
        match call(CallPurpose::Answer) {
            Ok(reply) => match read(&reply) {
                Ok(read) => return Ok(read),
                Err(defect) => {
                    problem.clone_from(&defect);
                    unreadable = Some((reply.text, defect));
                }
            },
            Err(error) if error.is_permanent() => return Err(refused(&error)),
            Err(error) => {
                problem = error.to_string();
                if attempt + 1 < ATTEMPTS {
                    if let Some(asked) = error.retry_after().filter(|asked| *asked > left) {
                        return Err(refused(&too_long_a_wait(&error, asked, limit)));
                    }
                    let wait = retry_wait(error.retry_after(), attempt + 1).min(left);
                    thread::sleep(wait);
                    left -= wait;
                }
            }
        }
    }
    let mut tries = format!("{ATTEMPTS} attempts");
    if let Some((reply, defect)) = unreadable.filter(|(reply, _)| !reply.trim().is_empty()) {
        tries.push_str(" and a repair");
        match call(CallPurpose::Repair { reply: &reply, problem: &defect }) {
            Ok(repaired) => match read(&repaired) {
                Ok(read) => return Ok(read),
                Err(defect) => problem = defect,
            },
            // A cassette without this call is not the fault of the judge.
            Err(error) if error.code().is_some() => return Err(refused(&error)),
            Err(error) => problem = error.to_string(),
        }
    }
    let message = format!("judge `{judge}` gave no usable reply in {tries}: {problem}");
    Err(JudgeFailure { message, code: ReasonCode::JudgeError })
}

fn too_long_a_wait(error: &JudgeError, asked: Duration, limit: Duration) -> JudgeError {
    let (asked, limit) = (asked.as_secs_f64(), limit.as_secs_f64());
    JudgeError::permanent(format!(
        "{error}\nit asks to be called again after {asked} s, but calls and the waits between them have a limit of {limit} s\n\
         help: EVALSUITE_JUDGE_TIMEOUT_SECONDS, or `timeout_seconds` of the grader, sets another limit"
    ))
}

/// The wait after `failed` failed calls, at least 1. `asked` is the wait that the judge asks for, which is never shortened
/// below [`LONGEST_WAIT`].
fn retry_wait(asked: Option<Duration>, failed: u32) -> Duration {
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

    const LIMIT: Duration = Duration::from_secs(60);
    const SECOND: Duration = Duration::from_secs(1);

    fn number(reply: &JudgeReply) -> Result<u32, String> {
        reply.text.parse().map_err(|_| "not a number".to_owned())
    }

    /// Asks a judge that replies in this order; what came out, and the calls that were made.
    fn ask<const N: usize>(replies: [Result<&str, JudgeError>; N]) -> (Result<u32, JudgeFailure>, usize) {
        let mut replies = replies.into_iter();
        let mut calls = 0;
        let result = until_readable(
            "j",
            LIMIT,
            |_| {
                calls += 1;
                replies.next().unwrap().map(JudgeReply::from)
            },
            number,
        );
        (result, calls)
    }

    fn soon() -> JudgeError {
        JudgeError::new("busy").with_retry_after(Duration::ZERO)
    }

    #[test]
    fn the_first_reply_that_can_be_read_is_the_last_call() {
        for (replies, calls) in [
            ([Ok("7"), Ok(""), Ok(""), Ok("")], 1),
            ([Ok("x"), Ok("7"), Ok(""), Ok("")], 2),
            ([Err(soon()), Err(soon()), Ok("7"), Ok("")], 3),
            ([Ok("x"), Err(soon()), Err(soon()), Ok("7")], 4),
        ] {
            let (result, made) = ask(replies);
            assert_eq!((result.unwrap(), made), (7, calls));
        }
    }

    #[test]
    fn a_failure_names_its_cause() {
        let stale = || JudgeError::permanent("stale").with_code(ReasonCode::RecordingStale);
        for (replies, calls, code, part) in [
            ([Err(soon()), Err(soon()), Err(soon()), Ok("7")], 3, ReasonCode::JudgeError, "3 attempts: busy"),
            ([Ok("x"), Ok("x"), Ok("x"), Ok("x")], 4, ReasonCode::JudgeError, "and a repair: not a number"),
            ([Ok(" "), Ok(" "), Ok(" "), Ok("7")], 3, ReasonCode::JudgeError, "3 attempts: not a number"),
            ([Err(JudgeError::permanent("no")), Ok("7"), Ok(""), Ok("")], 1, ReasonCode::JudgeError, "judge `j`: no"),
            ([Err(stale()), Ok("7"), Ok(""), Ok("")], 1, ReasonCode::RecordingStale, "stale"),
            ([Ok("x"), Ok("x"), Ok("x"), Err(stale())], 4, ReasonCode::RecordingStale, "stale"),
        ] {
            let (result, made) = ask(replies);
            let broken = result.unwrap_err();
            assert_eq!((broken.code, made), (code, calls), "{part}");
            assert!(broken.message.contains(part), "{}", broken.message);
        }
    }

    #[test]
    fn a_judge_that_asks_for_a_wait_beyond_the_limit_is_not_called_again() {
        let busy = |asked| JudgeError::new("busy").with_retry_after(Duration::from_secs(asked));
        let (result, calls) = ask([Err(busy(100)), Ok("7"), Ok(""), Ok("")]);
        let message = result.unwrap_err().message;
        assert_eq!(calls, 1);
        assert!(message.starts_with("judge `j`: busy\nit asks to be called again after 100 s"), "{message}");
        assert!(message.contains("have a limit of 60 s\nhelp: EVALSUITE_JUDGE_TIMEOUT_SECONDS"), "{message}");
        // Waits add up, and an own one is cut.
        let mut replies = [Err(JudgeError::new("down")), Err(busy(1)), Ok("7".into())].into_iter();
        let limit = Duration::from_millis(10);
        let failure = until_readable("j", limit, |_| replies.next().unwrap(), number).unwrap_err();
        assert!(failure.message.contains("busy\nit asks to be called again after 1 s"), "{}", failure.message);
    }

    #[test]
    fn a_reply_that_was_cut_off_is_reported_as_such() {
        let cut_off = |_: CallPurpose<'_>| Ok(JudgeReply { is_cut_off: true, ..JudgeReply::new("x") });
        let broken = until_readable("j", LIMIT, cut_off, number).unwrap_err();
        assert!(broken.message.contains("not a number (the service ended the reply"), "{}", broken.message);
        let whole = |_: CallPurpose<'_>| Ok(JudgeReply { is_cut_off: true, ..JudgeReply::new("7") });
        assert_eq!(until_readable("j", LIMIT, whole, number).unwrap(), 7);
    }

    #[test]
    fn a_repair_gets_the_last_reply() {
        let mut shown = Vec::new();
        let mut replies = [Ok("first"), Ok("second"), Err(soon())].into_iter();
        let read = until_readable(
            "j",
            LIMIT,
            |call| match call {
                CallPurpose::Answer => replies.next().unwrap().map(JudgeReply::from),
                CallPurpose::Repair { reply, problem } => {
                    shown.push(format!("{reply}: {problem}"));
                    Ok("7".into())
                }
            },
            number,
        );
        assert_eq!((read.ok(), shown), (Some(7), vec!["second: not a number".to_owned()]));
    }

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
