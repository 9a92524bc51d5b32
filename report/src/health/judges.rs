//! Judges that do not judge as they did.

use std::collections::BTreeMap;

use evalsuite_schema::decimal::at_least;

use super::JudgeHealth;
use crate::statistics::{mean, sign_flip_p_value};

/// p-value below which values have moved.
const SIGNIFICANT: f64 = 0.05;
/// The fall of κ that is drift.
const KAPPA_FALL: f64 = 0.1;

/// What was seen of a judge, the newest first.
#[derive(Debug, Default)]
pub(super) struct Judge {
    models: Vec<String>,
    /// By digest of the prompt: the values of each run.
    values: BTreeMap<String, Vec<(String, Vec<f64>)>>,
    /// Digest of the samples, and κ.
    pub(super) kappas: Vec<(String, f64)>,
}

impl Judge {
    pub(super) fn add_model(&mut self, model: &str) {
        if self.models.last().is_none_or(|newer| newer != model) {
            self.models.push(model.to_owned());
        }
    }

    pub(super) fn add_value(&mut self, prompt: &str, run: &str, value: f64) {
        let runs = self.values.entry(prompt.to_owned()).or_default();
        match runs.last_mut() {
            Some((last, values)) if last == run => values.push(value),
            _ => runs.push((run.to_owned(), vec![value])),
        }
    }

    pub(super) fn finding(self, suite: &str, judge: String) -> JudgeHealth {
        let differences: Vec<f64> = self
            .values
            .values()
            .filter_map(|runs| match runs.as_slice() {
                [(_, newest), .., (_, oldest)] => Some(mean(newest) - mean(oldest)),
                _ => None,
            })
            .collect();
        let p_value = sign_flip_p_value(&differences);
        let kappa = self.kappas.split_first().and_then(|((samples, newest), older)| {
            let oldest = older.iter().rev().find(|(other, _)| other == samples)?;
            Some((oldest.1, *newest))
        });
        let has_fallen = kappa.is_some_and(|(oldest, newest)| at_least(oldest - newest, KAPPA_FALL));
        JudgeHealth {
            suite: suite.to_owned(),
            judge,
            is_drifting: self.models.len() > 1 || p_value < SIGNIFICANT || has_fallen,
            models: self.models,
            prompts: differences.len(),
            difference: mean(&differences),
            p_value,
            kappa,
        }
    }
}
