//! Asking a judge until its reply can be read.

use std::{thread, time::Duration};

use evalsuite_schema::record::ReasonCode;

use crate::model::judge::{JudgeError, JudgeReply};

/// Calls until a reply can be read; one more asks to repair the last one.
const ATTEMPTS: u32 = 3;
/// Wait after the first failed call; it doubles.
const WAIT: Duration = Duration::from_secs(1);
/// Longest wait a judge is granted.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call<'a> {
    /// To have the question answered.
    Ask,
    /// To have a reply that cannot be read written anew.
    Repair { reply: &'a str, problem: &'a str },
}

/// Why there is no reply that can be read.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) message: String,
    pub(crate) code: ReasonCode,
}

/// Asks until a reply can be read, and in the end to repair one that cannot. `read` says what is wrong with a reply.
///
/// # Errors
///
/// Why there is none in the end.
pub(crate) fn until_read<T>(
    judge: &str,
    mut call: impl FnMut(Call<'_>) -> Result<JudgeReply, JudgeError>,
    mut read: impl FnMut(&JudgeReply) -> Result<T, String>,
) -> Result<T, Broken> {
    let refused = |error: &JudgeError| Broken {
        message: format!("judge `{judge}`: {error}"),
        code: error.code().unwrap_or(ReasonCode::JudgeError),
    };
    let mut read = |reply: &JudgeReply| {
        read(reply).map_err(|defect| match reply.is_cut_off {
            true => format!("{defect} (the service ended the reply at a limit of tokens: `finish_reason` is `length`)"),
            false => defect,
        })
    };
    let mut unreadable: Option<(String, String)> = None;
    let mut problem = String::new();
    for attempt in 0..ATTEMPTS {
        match call(Call::Ask) {
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
                    thread::sleep(wait(&error, attempt));
                }
            }
        }
    }
    let mut tries = format!("{ATTEMPTS} attempts");
    if let Some((reply, defect)) = unreadable.filter(|(reply, _)| !reply.trim().is_empty()) {
        tries.push_str(" and a repair");
        match call(Call::Repair { reply: &reply, problem: &defect }) {
            Ok(repaired) => match read(&repaired) {
                Ok(read) => return Ok(read),
                Err(defect) => problem = defect,
            },
            // A recording without this call is no fault of the judge.
            Err(error) if error.code().is_some() => return Err(refused(&error)),
            Err(error) => problem = error.to_string(),
        }
    }
    let message = format!("judge `{judge}` gave no usable reply in {tries}: {problem}");
    Err(Broken { message, code: ReasonCode::JudgeError })
}

/// Time until the next attempt: as long as the judge asks for, within bounds.
fn wait(error: &JudgeError, attempt: u32) -> Duration {
    error.retry_after().unwrap_or(WAIT * 2_u32.pow(attempt)).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judge_is_left_alone_as_long_as_it_asks_but_not_forever() {
        let asks = |wait| JudgeError::new("busy").with_retry_after(wait);
        let seconds = Duration::from_secs;
        assert_eq!([0, 1].map(|attempt| wait(&JudgeError::new("gone"), attempt)), [seconds(1), seconds(2)]);
        assert_eq!(wait(&asks(seconds(7)), 1), seconds(7));
        assert_eq!(wait(&asks(Duration::ZERO), 1), Duration::ZERO);
        assert_eq!(wait(&asks(Duration::MAX), 0), seconds(60));
    }

    fn number(reply: &JudgeReply) -> Result<u32, String> {
        reply.text.parse().map_err(|_| "not a number".to_owned())
    }

    /// Asks a judge that replies in this order; what came out, and the calls that were made.
    fn ask<const N: usize>(replies: [Result<&str, JudgeError>; N]) -> (Result<u32, Broken>, usize) {
        let mut replies = replies.into_iter();
        let mut calls = 0;
        let result = until_read(
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
    fn it_ends_with_the_first_reply_that_can_be_read() {
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
    fn what_it_ends_without_says_why() {
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
    fn a_reply_that_was_cut_off_says_so() {
        let cut_off = |_: Call<'_>| Ok(JudgeReply { is_cut_off: true, ..JudgeReply::new("x") });
        let broken = until_read("j", cut_off, number).unwrap_err();
        assert!(broken.message.contains("not a number (the service ended the reply"), "{}", broken.message);
        let whole = |_: Call<'_>| Ok(JudgeReply { is_cut_off: true, ..JudgeReply::new("7") });
        assert_eq!(until_read("j", whole, number).unwrap(), 7);
    }

    #[test]
    fn a_repair_is_shown_the_last_reply_that_came() {
        let mut shown = Vec::new();
        let mut replies = [Ok("first"), Ok("second"), Err(soon())].into_iter();
        let read = until_read(
            "j",
            |call| match call {
                Call::Ask => replies.next().unwrap().map(JudgeReply::from),
                Call::Repair { reply, problem } => {
                    shown.push(format!("{reply}: {problem}"));
                    Ok("7".into())
                }
            },
            number,
        );
        assert_eq!((read.ok(), shown), (Some(7), vec!["second: not a number".to_owned()]));
    }
}
