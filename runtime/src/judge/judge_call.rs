//! Calls of a judge by a grader, or recorded replies of the cassette: repeated until a reply can be read, and counted as votes where
//! several judges are asked, or one is asked again after a failing verdict.

use std::fmt::Display;
use std::thread;
use std::time::Duration;

use evalsuite_records::record::{GraderRecord, GraderState, ReasonCode, Verdict};
use evalsuite_schema::json::{FromJson, Value, json, to_value};
use evalsuite_schema::sorting::sort_by;

use crate::judge::judge_choice::{AskingGrader, ChosenJudge, JudgeOptions};
use crate::model::cassette::{ASKED_MODEL, Asker, LookUp};
use crate::model::judge::reply::unfinished;
use crate::model::judge::{BoundJudge, JudgeError, JudgeReply, JudgeRequest};
use crate::platform::clock::with_jitter;
use crate::platform::time_limit::Ended;

impl AskingGrader {
    /// Asks a judge, or takes its reply from the cassette. Every call of every judge goes through here. `options` apply where the
    /// request sets nothing; `earlier` is the number of replies of the judge to the same question.
    pub(crate) fn ask(
        &self,
        judge: &ChosenJudge,
        mut request: JudgeRequest,
        options: &JudgeOptions,
        earlier: u32,
    ) -> Result<JudgeReply, JudgeError> {
        request.case_id.clone_from(&self.case_id);
        request.trial = self.trial;
        request.temperature = request.temperature.or(options.temperature);
        request.limit = request.limit.or(options.limit);
        let mut key = request.to_key();
        // The requests of graders are told apart.
        key["grader"] = json!(self.path);
        // Replies of the default judge can be replayed without it; a named judge is recorded under its name.
        key["judge"] = json!(judge.is_named.then_some(&judge.name));
        // Without a name, the judge of the environment goes before the others.
        let model = options.endpoint.as_ref().filter(|_| !judge.is_named).map(|endpoint| endpoint.model.as_str());
        let model = judge.command.as_deref().or(model);
        let asker = if judge.is_absent { Asker::AbsentJudge(judge.command.as_deref()) } else { Asker::Judge(model) };
        match self.cassette.0.look_up(asker, key, earlier) {
            LookUp::Found(reply) => JudgeReply::from_json(reply).map_err(|error| {
                JudgeError::permanent(format!("the reply in the cassette cannot be read: {error}")).unpaid()
            }),
            LookUp::Ask(recorded) => {
                let reply = call(&judge.judge, request)?;
                let mut kept = to_value(&reply).map_err(|error| {
                    JudgeError::permanent(format!("the reply cannot be recorded: {error}")).after(&reply)
                })?;
                if let Some(model) = model {
                    kept[ASKED_MODEL] = json!(model);
                }
                match self.cassette.0.keep(recorded, kept) {
                    Ok(()) => Ok(reply),
                    Err(error) => Err(JudgeError::permanent(error.to_string()).after(&reply)),
                }
            }
            LookUp::Stale(message) => Err(not_replayed(message, ReasonCode::RecordingStale)),
            LookUp::Missing(message) => Err(not_replayed(message, ReasonCode::RecordingMissing)),
        }
    }
}

fn not_replayed(message: String, code: ReasonCode) -> JudgeError {
    JudgeError::permanent(message).with_code(code).unpaid()
}

/// Asks a judge once, within the request's limit.
fn call(judge: &BoundJudge, request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
    let limit = request.limit();
    let reply = match judge.0.call_within(limit, move |judge, cancel| judge(request, cancel)) {
        Ok(Ended::Returned(result)) => result?,
        Ok(Ended::Panicked(message)) => return Err(JudgeError::permanent(format!("the judge panicked: {message}"))),
        Ok(Ended::TimedOut) => {
            return Err(JudgeError::new(format!("the judge did not reply within {} s", limit.as_secs_f64())));
        }
        Err(error) => {
            return Err(JudgeError::permanent(format!("the judge's thread cannot be started: {error}")).unpaid());
        }
    };
    match reply.defect() {
        None => Ok(reply),
        Some(defect) => Err(JudgeError::permanent(defect).after(&reply)),
    }
}

/// Calls until a reply can be read; one more asks to repair the last one, or for a shorter one.
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
    /// The judge answers the question in fewer words, because its service cut off what it replied. An unfinished reply is not repaired: it is
    /// a draft, without what would have followed.
    Shorter,
}

/// Why there is no reply that can be read.
#[derive(Debug)]
pub(crate) struct JudgeFailure {
    pub(crate) message: String,
    pub(crate) code: ReasonCode,
}

/// Calls a judge until its reply can be read; after the last attempt, asks it once to repair a reply that cannot, or to answer again in fewer
/// words. `read` returns what is wrong with a reply. `limit` is the time limit of a call, and of all waits between calls.
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
    let mut read = |reply: &JudgeReply| match reply.is_cut_off {
        true => {
            let read = unfinished(&reply.text)
                .map_or_else(|| read(reply).map_err(|defect| defect.to_string()), |defect| Err(defect.to_string()));
            read.map_err(|defect| {
                format!("{defect} (the service cut the reply off, as its `finish_reason` says, such as `length` at a limit of tokens)")
            })
        }
        false => read(reply).map_err(|defect| defect.to_string()),
    };
    let mut unreadable: Option<(JudgeReply, String)> = None;
    let mut problem = String::new();
    let mut left = limit;
    for attempt in 0..ATTEMPTS {
        match call(CallPurpose::Answer) {
            Ok(reply) => match read(&reply) {
                Ok(read) => return Ok(read),
                Err(defect) => {
                    problem.clone_from(&defect);
                    unreadable = Some((reply, defect));
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
    if let Some((reply, defect)) = unreadable.filter(|(reply, _)| reply.is_cut_off || !reply.text.trim().is_empty()) {
        let (purpose, shown, failed) = match reply.is_cut_off {
            true => (CallPurpose::Shorter, " and one for a shorter reply", "the call for a shorter reply"),
            false => {
                (CallPurpose::Repair { reply: &reply.text, problem: &defect }, " and a repair", "the call to repair it")
            }
        };
        tries.push_str(shown);
        match call(purpose) {
            Ok(repaired) => match read(&repaired) {
                Ok(read) => return Ok(read),
                Err(defect) => problem = defect,
            },
            // A cassette without this call is not the fault of the judge.
            Err(error) if error.code().is_some() => return Err(refused(&error)),
            Err(error) => problem = format!("{defect}; {failed} failed: {error}"),
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

/// The result of a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Majority {
    /// The votes that are missing could change it.
    Open,
    Verdict(Verdict),
    Undecided,
    /// The votes that are errors could have changed it.
    Error,
}

/// The result after `votes` of `total` votes. A tie of passes and fails is a fail; an undecided vote does not count.
pub(crate) fn majority(votes: &[GraderRecord], total: usize) -> Majority {
    let count = |fits: &dyn Fn(&GraderRecord) -> bool| votes.iter().filter(|vote| fits(vote)).count();
    let passes = count(&|vote| vote.verdict == Some(Verdict::Pass));
    let fails = count(&|vote| vote.verdict == Some(Verdict::Fail));
    let errors = count(&|vote| vote.state == GraderState::Error);
    let missing = total.saturating_sub(votes.len());
    if passes > fails + errors + missing {
        return Majority::Verdict(Verdict::Pass);
    }
    if fails > 0 && fails >= passes + errors + missing {
        return Majority::Verdict(Verdict::Fail);
    }
    match () {
        () if missing > 0 => Majority::Open,
        () if errors > 0 => Majority::Error,
        () => Majority::Undecided,
    }
}

/// The vote that is recorded as the grader's result: of those that agree with the majority, the one with the median value.
pub(crate) fn representative(mut votes: Vec<GraderRecord>, majority: Majority) -> Option<GraderRecord> {
    let all: Vec<Value> = votes.iter().map(shown).collect();
    votes.retain(|vote| match majority {
        Majority::Verdict(verdict) => vote.verdict == Some(verdict),
        Majority::Undecided => vote.state == GraderState::Undecided,
        Majority::Error | Majority::Open => vote.state == GraderState::Error,
    });
    sort_by(&mut votes, |a, b| a.value.unwrap_or_default().total_cmp(&b.value.unwrap_or_default()));
    let middle = votes.len().saturating_sub(1) / 2;
    let mut chosen = votes.into_iter().nth(middle)?;
    if all.len() > 1 {
        chosen.details.get_or_insert_default().insert("votes".to_owned(), Value::Array(all));
    }
    Some(chosen)
}

fn shown(vote: &GraderRecord) -> Value {
    json!({
        "judge": vote.judge.as_ref().map(|judge| &judge.name),
        "state": vote.state,
        "verdict": vote.verdict,
        "value": vote.value,
        "error": vote.error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::clock::JITTER;

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
            (
                [Ok("x"), Ok("x"), Ok("x"), Err(soon())],
                4,
                ReasonCode::JudgeError,
                "not a number; the call to repair it failed: busy",
            ),
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
        assert!(broken.message.contains("not a number (the service cut the reply off"), "{}", broken.message);
        let whole = |_: CallPurpose<'_>| Ok(JudgeReply { is_cut_off: true, ..JudgeReply::new("7") });
        assert_eq!(until_readable("j", LIMIT, whole, number).unwrap(), 7);
    }

    #[test]
    fn a_draft_in_a_reply_that_was_cut_off_is_not_a_judgement() {
        let score = |reply: &JudgeReply| reply.json::<Value>().map(|judgement| judgement["score"].as_f64());
        let judged = |text: &'static str, is_cut_off| {
            until_readable("j", LIMIT, |_| Ok(JudgeReply { is_cut_off, ..JudgeReply::new(text) }), score)
        };
        // The opening tag of the thinking was in the prompt, and the service ended the reply before the closing one.
        let thinking = "If it were polite, {\"score\": 1} would be right. But the answer is rude, so";
        let broken = judged(thinking, true).unwrap_err();
        assert!(broken.message.contains("goes on after its last JSON object: \"would be right"), "{}", broken.message);
        assert!(broken.message.contains("the service cut the reply off"), "{}", broken.message);
        assert_eq!(judged(thinking, false).unwrap(), Some(1.0));
        assert_eq!(judged("So: {\"score\": 1}\n\n\n", true).unwrap(), Some(1.0));
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
                CallPurpose::Shorter => panic!("no reply was cut off"),
            },
            number,
        );
        assert_eq!((read.ok(), shown), (Some(7), vec!["second: not a number".to_owned()]));
    }

    #[test]
    fn a_reply_that_was_cut_off_is_not_repaired_but_asked_for_again() {
        // Of a model that thinks, nothing may be left.
        for cut in ["perhaps 7, but", ""] {
            let mut asked = Vec::new();
            let call = |purpose: CallPurpose<'_>| {
                asked.push(purpose == CallPurpose::Shorter);
                Ok(match purpose {
                    CallPurpose::Shorter => "6".into(),
                    _ => JudgeReply { is_cut_off: true, ..JudgeReply::new(cut) },
                })
            };
            assert_eq!(until_readable("j", LIMIT, call, number).unwrap(), 6, "{cut}");
            assert_eq!(asked, [false, false, false, true], "{cut}");
        }
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

    fn votes(kinds: &str) -> Vec<GraderRecord> {
        let vote = |kind| {
            let (state, value, verdict) = match kind {
                'p' => ("decided", Some(0.9), Some("pass")),
                'P' => ("decided", Some(1.0), Some("pass")),
                'f' => ("decided", Some(0.2), Some("fail")),
                'u' => ("undecided", None, None),
                _ => ("error", None, None),
            };
            let vote = json!({
                "name": "g", "type": "llm-grader", "kind": "model", "state": state, "value": value, "verdict": verdict,
                "forced_fail": false, "weight": 1.0, "required": false, "negated": false, "duration_ms": 0,
                "assertions": [], "members": [], "error": (state == "error").then_some("broken"),
                "location": {"file": "f", "line": 1, "column": 1},
            });
            evalsuite_schema::json::from_value(vote).unwrap()
        };
        kinds.chars().map(vote).collect()
    }

    #[test]
    fn the_majority_decides_as_soon_as_it_is_clear() {
        use Majority::{Error, Open, Undecided, Verdict as Is};
        for (given, total, expected) in [
            ("p", 1, Is(Verdict::Pass)),
            ("f", 3, Open),
            ("ff", 3, Is(Verdict::Fail)),
            ("fp", 3, Open),
            ("fpp", 3, Is(Verdict::Pass)),
            ("fpu", 3, Is(Verdict::Fail)),
            ("fup", 3, Is(Verdict::Fail)),
            ("fue", 3, Is(Verdict::Fail)),
            ("fpe", 3, Error),
            ("ppe", 3, Is(Verdict::Pass)),
            ("ffe", 3, Is(Verdict::Fail)),
            ("fp", 2, Is(Verdict::Fail)),
            ("u", 1, Undecided),
            ("uu", 2, Undecided),
            ("ue", 2, Error),
            ("e", 1, Error),
        ] {
            assert_eq!(majority(&votes(given), total), expected, "{given} of {total}");
        }
    }

    #[test]
    fn the_median_vote_of_the_majority_is_recorded() {
        let chosen = representative(votes("fPpP"), Majority::Verdict(Verdict::Pass)).unwrap();
        assert_eq!(chosen.value, Some(1.0));
        assert_eq!(chosen.details.unwrap()["votes"].as_array().map(Vec::len), Some(4));
        assert_eq!(representative(votes("p"), Majority::Verdict(Verdict::Pass)).unwrap().details, None);
        assert_eq!(representative(votes("fe"), Majority::Error).unwrap().error.as_deref(), Some("broken"));
    }
}
