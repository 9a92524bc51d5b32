//! Contradictions within a reply: a judgement that another part of the same reply denies.
//!
//! Only these are contradictions; a score between 0 and 1 weighs what passed and what failed, and the judge decides how.
//!
//! | reply | contradiction |
//! |---|---|
//! | free-form | `score` is 1, and an assertion has not passed |
//! | | `score` is 0, and all assertions, at least one, have passed |
//! | | `score` is 1 or 0, and the reply also has a `verdict` (`pass` or `fail`), `pass` or `passed` that says the opposite |
//! | checklist and ranges | an entry has both keys, and `satisfied` is true with `score` 0, or false with `score` 10 |

use evalsuite_records::record::Assertion;
use evalsuite_schema::{Object, Value};

use crate::model::judge::InvalidReply;

/// The score of a criterion that is satisfied.
pub(crate) const SATISFIED: u8 = 10;

/// Most assertions that are named.
const NAMED: usize = 3;

/// Why a reply cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplyDefect {
    /// It does not have the shape that was asked for.
    Unreadable(InvalidReply),
    /// It can be read, and says both one thing and its opposite.
    Contradiction(String),
}

impl From<InvalidReply> for ReplyDefect {
    fn from(problem: InvalidReply) -> Self {
        Self::Unreadable(problem)
    }
}

impl From<String> for ReplyDefect {
    fn from(problem: String) -> Self {
        Self::Unreadable(problem.into())
    }
}

impl From<&str> for ReplyDefect {
    fn from(problem: &str) -> Self {
        Self::Unreadable(problem.into())
    }
}

/// What contradicts the score of a free-form reply. `others` are its keys that nobody asked for.
pub(crate) fn of_score(score: f64, assertions: &[Assertion], others: &Object) -> Option<String> {
    let is_pass = match score {
        1.0 => true,
        0.0 => false,
        _ => return None,
    };
    let opposite: Vec<(usize, &Assertion)> =
        assertions.iter().enumerate().filter(|(_, assertion)| assertion.passed != is_pass).collect();
    let denies =
        if is_pass { !opposite.is_empty() } else { !opposite.is_empty() && opposite.len() == assertions.len() };
    if denies {
        let named = opposite
            .iter()
            .take(NAMED)
            .map(|(index, assertion)| format!("`assertions[{index}]` ({:?})", assertion.text));
        let mut named = named.collect::<Vec<_>>().join(", ");
        if opposite.len() > NAMED {
            named.push_str(&format!(" and {} more", opposite.len() - NAMED));
        }
        return Some(match is_pass {
            true => format!("`score` is 1, but these assertions have not passed: {named}"),
            false => format!("`score` is 0, but all assertions have passed: {named}"),
        });
    }
    of_verdict(score, others)
}

/// What contradicts a score of 1 or 0 among the keys of an object that look like a verdict.
pub(crate) fn of_verdict(score: f64, object: &Object) -> Option<String> {
    ["verdict", "pass", "passed"].into_iter().find_map(|key| {
        let value = object.get(key)?;
        let opposite = if verdict(value)? { 0.0 } else { 1.0 };
        (score == opposite).then(|| format!("`score` is {score}, but `{key}` is {value}"))
    })
}

/// What contradicts an entry of `checks` that has both keys, of which one was asked for.
pub(crate) fn of_check(entry: &Object) -> Option<String> {
    let satisfied = entry.get("satisfied")?.as_bool()?;
    let score = entry.get("score")?.as_f64()?;
    let opposite = if satisfied { 0.0 } else { f64::from(SATISFIED) };
    (score == opposite).then(|| format!("has `satisfied` {satisfied}, but `score` {score}"))
}

/// What a key that looks like a verdict says.
fn verdict(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(passed) => Some(*passed),
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "pass" | "passed" => Some(true),
            "fail" | "failed" => Some(false),
            _ => None,
        },
        _ => None,
    }
}
