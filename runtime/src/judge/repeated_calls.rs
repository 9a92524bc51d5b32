//! Repeated calls of a judge, until its reply can be read.

use std::fmt::Display;
use std::thread;

use evalsuite_schema::record::ReasonCode;

use crate::judge::retry_wait::retry_wait;
use crate::model::judge::{JudgeError, JudgeReply};

/// Calls until a reply can be read; one more asks to repair the last one.
const ATTEMPTS: u32 = 3;

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
/// what is wrong with a reply.
///
/// # Errors
///
/// Why there is no reply that can be read.
pub(crate) fn until_readable<T, E: Display>(
    judge: &str,
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
                    thread::sleep(retry_wait(error.retry_after(), attempt + 1));
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn number(reply: &JudgeReply) -> Result<u32, String> {
        reply.text.parse().map_err(|_| "not a number".to_owned())
    }

    /// Asks a judge that replies in this order; what came out, and the calls that were made.
    fn ask<const N: usize>(replies: [Result<&str, JudgeError>; N]) -> (Result<u32, JudgeFailure>, usize) {
        let mut replies = replies.into_iter();
        let mut calls = 0;
        let result = until_readable(
            "j",
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
    fn a_reply_that_was_cut_off_is_reported_as_such() {
        let cut_off = |_: CallPurpose<'_>| Ok(JudgeReply { is_cut_off: true, ..JudgeReply::new("x") });
        let broken = until_readable("j", cut_off, number).unwrap_err();
        assert!(broken.message.contains("not a number (the service ended the reply"), "{}", broken.message);
        let whole = |_: CallPurpose<'_>| Ok(JudgeReply { is_cut_off: true, ..JudgeReply::new("7") });
        assert_eq!(until_readable("j", whole, number).unwrap(), 7);
    }

    #[test]
    fn a_repair_gets_the_last_reply() {
        let mut shown = Vec::new();
        let mut replies = [Ok("first"), Ok("second"), Err(soon())].into_iter();
        let read = until_readable(
            "j",
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
}
