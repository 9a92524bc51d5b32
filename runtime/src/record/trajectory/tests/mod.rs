//! Tests of writing and reading trajectories.

pub(crate) mod reading;
pub(crate) mod round_trip;
pub(crate) mod validator;
pub(crate) mod writing;

use evalsuite_records::record::Status;
use evalsuite_schema::{Message, Value};

use crate::platform::redaction::Redactor;
use crate::record::trajectory::{DocumentParts, TrialResult, document};

/// What a transcript is written as.
fn written(transcript: Option<&[Message]>, answer: &str) -> Value {
    written_with(transcript, answer, &Redactor::default(), |_| ())
}

fn written_with(
    transcript: Option<&[Message]>,
    answer: &str,
    redactor: &Redactor,
    change: impl FnOnce(&mut DocumentParts<'_>),
) -> Value {
    let mut work = DocumentParts {
        session: "run/case".into(),
        trial: "trial-000",
        agent: "planner",
        agent_version: "1.2.3",
        model: None,
        tools: &[],
        transcript,
        answer,
        turns: &[],
        first_simulated_turn: None,
        usage: None,
        cost_usd: None,
        result: TrialResult { outcome: Status::Passed, score: Some(1.0), reason: None, graders: &[] },
    };
    change(&mut work);
    evalsuite_schema::json::to_value(&document(&work, redactor)).unwrap()
}
