//! `benchmark.json`: the means of all trials by arm, and how they differ.

use std::collections::BTreeMap;

use evalsuite_records::record::Status;
use evalsuite_schema::arm::{REFERENCE_ARMS, WITH_SKILL};
use evalsuite_statistics::{mean, standard_deviation};
use serde::{Deserialize, Serialize};

use super::grading::{Grading, Timing};

/// The values of the trials of an arm.
#[derive(Debug, Default)]
pub(super) struct ArmResults {
    pass_rates: Vec<f64>,
    seconds: Vec<f64>,
    tokens: Vec<f64>,
}

impl ArmResults {
    /// Adds a trial. One that ended in an error has no pass rate.
    pub(super) fn add(&mut self, outcome: Status, grading: &Grading, timing: &Timing) {
        let is_graded = matches!(outcome, Status::Passed | Status::Failed);
        self.pass_rates.extend(is_graded.then_some(grading.summary.pass_rate));
        self.seconds.extend(timing.total_duration_seconds);
        self.tokens.extend(timing.total_tokens.map(|tokens| tokens as f64));
    }
}

/// `benchmark.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Benchmark {
    pub(super) run_summary: RunSummary,
}

/// The arms by name, then the difference of the one with the skill to the one that it is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RunSummary {
    #[serde(flatten)]
    pub(super) arms: BTreeMap<String, Arm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delta: Option<Delta>,
}

/// The means of an arm. What no trial reported is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Arm {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pass_rate: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time_seconds: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<Spread>,
}

/// A mean, and the standard deviation (n − 1); 0 for one value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Spread {
    pub(super) mean: f64,
    pub(super) stddev: f64,
}

/// Differences of the means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Delta {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pass_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<f64>,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let stddev = standard_deviation(values).unwrap_or_default();
        (!values.is_empty()).then(|| Self { mean: mean(values), stddev })
    }
}

pub(super) fn benchmark(results: &BTreeMap<String, ArmResults>) -> Benchmark {
    let arm = |(name, results): (&String, &ArmResults)| {
        let ArmResults { pass_rates, seconds, tokens } = results;
        let arm =
            Arm { pass_rate: Spread::of(pass_rates), time_seconds: Spread::of(seconds), tokens: Spread::of(tokens) };
        (name.clone(), arm)
    };
    let arms: BTreeMap<String, Arm> = results.iter().map(arm).collect();
    let reference = REFERENCE_ARMS.into_iter().find_map(|name| arms.get(name));
    let delta = arms.get(WITH_SKILL).zip(reference).map(|(with_skill, reference)| {
        let difference = |of: fn(&Arm) -> Option<Spread>| Some(of(with_skill)?.mean - of(reference)?.mean);
        Delta {
            pass_rate: difference(|arm| arm.pass_rate),
            time_seconds: difference(|arm| arm.time_seconds),
            tokens: difference(|arm| arm.tokens),
        }
    });
    Benchmark { run_summary: RunSummary { arms, delta } }
}
