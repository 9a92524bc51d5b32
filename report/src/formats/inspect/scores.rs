//! The scores of a sample: one for each grader that decided, and that of the trial.

use evalsuite_records::record::{GraderRecord, GraderState, Status, TrialRecord};
use evalsuite_schema::json::{Object, Value, json};

use crate::formats::ids::unique;

/// Name of the score of the trial.
pub(super) const TRIAL: &str = "evalsuite";
/// Most characters of the answer in a score; the whole answer is the sample's output.
const ANSWER: usize = 1_000;
/// Fields of a grader's record that the score has.
const KNOWN: &[&str] = &["name", "value", "state", "rationale"];

/// The graders of a trial by the names of their scores.
pub(super) fn named_graders(record: &TrialRecord) -> impl Iterator<Item = (String, &GraderRecord)> {
    let names = unique(std::iter::once(TRIAL).chain(record.graders.iter().map(|grader| grader.name.as_str())));
    names.into_iter().skip(1).zip(&record.graders)
}

/// The scores by name; `null` for a trial that was not graded to its end. A grader that did not decide has none: Inspect would count
/// it as 0.
pub(super) fn scores(record: &TrialRecord) -> Value {
    if !matches!(record.outcome, Status::Passed | Status::Failed) {
        return Value::Null;
    }
    let mut scores = Object::new();
    let answer = record.answer.as_deref().map(cut);
    if let Some(score) = record.score {
        let reason = record.reason.as_ref().map(|reason| reason.message.as_str());
        let metadata = json!({ "outcome": record.outcome, "threshold": record.threshold });
        scores.insert(TRIAL.to_owned(), score_json(score, answer.as_deref(), reason, metadata));
    }
    for (name, grader) in named_graders(record) {
        if let (GraderState::Decided, Some(value)) = (grader.state, grader.value) {
            let explanation = explanation(grader);
            scores.insert(name, score_json(value, answer.as_deref(), explanation.as_deref(), details(grader)));
        }
    }
    Value::Object(scores)
}

fn score_json(value: f64, answer: Option<&str>, explanation: Option<&str>, metadata: Value) -> Value {
    json!({ "value": value, "answer": answer, "explanation": explanation, "metadata": metadata, "history": [] })
}

/// What the grader says, and its assertions.
fn explanation(grader: &GraderRecord) -> Option<String> {
    let assertions = grader.assertions.iter().map(|assertion| {
        let mark = if assertion.passed { '✓' } else { '✗' };
        format!("{mark} {}", assertion.text)
    });
    let lines: Vec<String> = grader.rationale.clone().into_iter().chain(assertions).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn details(grader: &GraderRecord) -> Value {
    let mut details = evalsuite_schema::json::to_value(grader).expect("records are JSON objects with text keys");
    if let Some(fields) = details.as_object_mut() {
        fields.retain(|name, value| !value.is_null() && !KNOWN.contains(&name.as_str()));
        fields["location"] = grader.location.to_string().into();
    }
    details
}

fn cut(answer: &str) -> String {
    match answer.char_indices().nth(ANSWER) {
        Some((end, _)) => format!("{}…", &answer[..end]),
        None => answer.to_owned(),
    }
}
