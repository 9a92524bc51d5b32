//! The scores of all samples by grader: means, their standard errors, and the mean of each case.

use evalsuite_records::record::{GraderState, Status};
use evalsuite_schema::json::{Object, Value, json};

use super::InspectLog;
use super::scores::{TRIAL, named_graders};
use crate::statistics::{mean, standard_deviation};

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
