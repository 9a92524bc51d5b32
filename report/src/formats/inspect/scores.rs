//! The scores of a sample, one for each grader that decided and that of the trial, and those of all samples by grader.

use evalsuite_records::record::{GraderRecord, GraderState, Status, TrialRecord};
use evalsuite_schema::json::{Object, Value, json};
use evalsuite_statistics::{mean, standard_deviation};

use super::InspectLog;
use crate::formats::ids::unique;

/// Name of the score of the trial.
pub(super) const TRIAL: &str = "evalsuite";
/// Most characters of the answer in a score, whose whole is the sample's output, and of a text in a summary.
const LONGEST: usize = 1_000;
/// Fields of a grader's record that the score has.
const KNOWN: &[&str] = &["name", "value", "state", "rationale"];

/// The graders of a trial and of its turns by the names of their scores.
fn named_graders(record: &TrialRecord) -> impl Iterator<Item = (String, &GraderRecord)> {
    let names = unique(std::iter::once(TRIAL).chain(record.all_graders().map(|grader| grader.name.as_str())));
    names.into_iter().skip(1).zip(record.all_graders())
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

/// The beginning of a text.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The scores of one name.
pub(super) struct Scorer {
    pub(super) name: String,
    /// The scores of each case that has any, by the id of its samples.
    cases: Vec<(String, Vec<f64>)>,
    /// Samples without this score.
    unscored: usize,
}

/// The score of the trials, then those of the graders in the order in which they first occur.
pub(super) fn scorers(log: &InspectLog<'_>) -> Vec<Scorer> {
    let mut scorers = vec![Scorer { name: TRIAL.to_owned(), cases: Vec::new(), unscored: 0 }];
    let mut samples = 0;
    for (id, case) in &log.cases {
        for trial in &case.trials {
            samples += 1;
            let record = &trial.record;
            let is_graded = matches!(record.outcome, Status::Passed | Status::Failed);
            add(&mut scorers, TRIAL, id, record.score.filter(|_| is_graded));
            for (name, grader) in named_graders(record) {
                let value = grader.value.filter(|_| is_graded && grader.state == GraderState::Decided);
                add(&mut scorers, &name, id, value);
            }
        }
    }
    for scorer in &mut scorers {
        scorer.unscored = samples - scorer.cases.iter().map(|(_, values)| values.len()).sum::<usize>();
    }
    scorers
}

fn add(scorers: &mut Vec<Scorer>, name: &str, id: &str, value: Option<f64>) {
    let index = scorers.iter().position(|scorer| scorer.name == name).unwrap_or_else(|| {
        scorers.push(Scorer { name: name.to_owned(), cases: Vec::new(), unscored: 0 });
        scorers.len() - 1
    });
    let Some(value) = value else { return };
    let cases = &mut scorers[index].cases;
    match cases.last_mut() {
        Some((last, values)) if last == id => values.push(value),
        _ => cases.push((id.to_owned(), vec![value])),
    }
}

impl Scorer {
    fn means(&self) -> Vec<f64> {
        self.cases.iter().map(|(_, values)| mean(values)).collect()
    }

    /// Mean over the cases, and its standard error from two cases on.
    pub(super) fn result(&self) -> Value {
        let means = self.means();
        let mut metrics = Object::new();
        let mut add = |name: &str, value: f64| {
            metrics.insert(name.to_owned(), json!({ "name": name, "value": value, "params": {} }));
        };
        if !means.is_empty() {
            add("mean", mean(&means));
        }
        if let Some(deviation) = standard_deviation(&means) {
            add("stderr", deviation / (means.len() as f64).sqrt());
        }
        json!({
            "name": self.name,
            "scorer": self.name,
            "reducer": "mean",
            "scored_samples": self.cases.iter().map(|(_, values)| values.len()).sum::<usize>(),
            "unscored_samples": self.unscored,
            "params": {},
            "metrics": metrics,
        })
    }

    /// The mean of each case.
    pub(super) fn reduction(&self) -> Value {
        let samples =
            self.cases.iter().map(|(id, values)| json!({ "sample_id": id, "value": mean(values), "history": [] }));
        json!({ "scorer": self.name, "reducer": "mean", "samples": samples.collect::<Vec<_>>() })
    }
}
