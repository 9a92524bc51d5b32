//! Tests of writing and reading trajectories.

pub(crate) mod reading;
pub(crate) mod round_trip;
pub(crate) mod validator;
pub(crate) mod writing;

use evalsuite_schema::Message;
use serde_json::{Value, json};

use crate::platform::redaction::Redactor;
use crate::record::trajectory::{DocumentParts, document};

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
        usage: None,
        cost_usd: None,
        verdict: json!({"outcome": "passed"}),
        reward: Some(json!({"pass": true})),
    };
    change(&mut work);
    serde_json::to_value(document(&work, redactor)).unwrap()
}
