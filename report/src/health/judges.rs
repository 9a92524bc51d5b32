//! Judges that do not judge as they did.

use std::collections::BTreeMap;

use evalsuite_records::record::CalibrationRecord;
use evalsuite_schema::decimal::at_least;
use evalsuite_statistics::{holm, mean, sign_flip_p_value};

use super::JudgeHealth;

/// Adjusted p-value up to which values or agreement have moved.
const SIGNIFICANT: f64 = 0.05;
/// Fewest differences that can have a one-sided p-value of that size: 2⁻⁵. Two-sided, it is one more.
const FEWEST: usize = 5;

/// What was seen of a judge, the newest first.
#[derive(Debug, Default)]
pub(super) struct Judge {
    models: Vec<String>,
    /// By digest of the prompt: the values of each run.
    values: BTreeMap<String, Vec<(String, Vec<f64>)>>,
    calibrations: Vec<Calibrated>,
}

/// A calibration with a judge.
#[derive(Debug)]
struct Calibrated {
    /// Digest of the samples.
    samples: String,
    kappa: f64,
    /// Whether the judge lets the same answers pass as the person, by id of the sample.
    agrees: BTreeMap<String, bool>,
}

impl Calibrated {
    /// For each sample of two calibrations, whether the judge agrees with the person only in this one, 1, or only in the older one, -1.
    fn changes(&self, older: &Self) -> Vec<f64> {
        let number = |agrees: bool| f64::from(u8::from(agrees));
        self.agrees.iter().filter_map(|(id, now)| Some(number(*now) - number(*older.agrees.get(id)?))).collect()
    }
}

/// One-sided p-value of a fall.
fn fall_p_value(changes: &[f64]) -> f64 {
    if changes.iter().sum::<f64>() < 0.0 { sign_flip_p_value(changes) / 2.0 } else { 1.0 }
}

/// The p-value, if as many differences could have a small one: their signs do not matter, so this selects no results.
fn testable(p_value: f64, differences: &[f64], fewest: usize) -> Option<f64> {
    (differences.iter().filter(|difference| **difference != 0.0).count() >= fewest).then_some(p_value)
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

    pub(super) fn add_calibration(&mut self, calibration: &CalibrationRecord) {
        let Some(statistics) = &calibration.statistics else { return };
        let passes = |score: f64| at_least(score, calibration.threshold);
        let judged = calibration
            .samples
            .iter()
            .filter_map(|sample| Some((sample.id.clone(), passes(sample.judge_score?) == passes(sample.human_score))));
        self.calibrations.push(Calibrated {
            samples: calibration.prompt_sha256.clone(),
            kappa: statistics.kappa,
            agrees: judged.collect(),
        });
    }

    /// What is known of the judge, and the p-values that may show drift.
    pub(super) fn finding(self, suite: &str, judge: String) -> (JudgeHealth, Vec<f64>) {
        let differences: Vec<f64> = self
            .values
            .values()
            .filter_map(|runs| match runs.as_slice() {
                [(_, newest), .., (_, oldest)] => Some(mean(newest) - mean(oldest)),
                _ => None,
            })
            .collect();
        let p_value = sign_flip_p_value(&differences);
        let calibrated = self.calibrations.split_first().and_then(|(newest, older)| {
            let oldest = older.iter().rev().find(|other| other.samples == newest.samples)?;
            Some(((oldest.kappa, newest.kappa), newest.changes(oldest)))
        });
        let fall = calibrated.as_ref().map(|(_, changes)| (fall_p_value(changes), changes));
        let of_kappa = fall.and_then(|(p, changes)| testable(p, changes, FEWEST));
        let tests = [testable(p_value, &differences, FEWEST + 1), of_kappa].into_iter().flatten().collect();
        let health = JudgeHealth {
            suite: suite.to_owned(),
            judge,
            is_drifting: self.models.len() > 1,
            models: self.models,
            prompts: differences.len(),
            difference: mean(&differences),
            p_value,
            kappa_p_value: fall.map(|(p, _)| p),
            kappa: calibrated.as_ref().map(|(kappa, _)| *kappa),
            adjusted_p: 1.0,
        };
        (health, tests)
    }
}

/// Adjusts the p-values of all judges for their number, and decides which judges drift.
pub(super) fn adjusted(found: Vec<(JudgeHealth, Vec<f64>)>) -> impl Iterator<Item = JudgeHealth> {
    let adjusted = holm(&found.iter().flat_map(|(_, tests)| tests.iter().copied()).collect::<Vec<_>>());
    let mut adjusted = adjusted.into_iter();
    found.into_iter().map(move |(mut judge, tests)| {
        judge.adjusted_p = adjusted.by_ref().take(tests.len()).fold(1.0, f64::min);
        judge.is_drifting |= judge.adjusted_p <= SIGNIFICANT;
        judge
    })
}
