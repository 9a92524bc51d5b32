//! What became of one trial: `grading.json` and `timing.json`.

use evalsuite_records::record::{GraderRecord, TrialRecord, Verdict};
use serde::{Deserialize, Serialize};

use crate::expectation_text::expectation_text;

/// `grading.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Grading {
    pub(super) expectations: Vec<Expectation>,
    pub(super) summary: Summary,
}

/// What was expected, and whether it is true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Expectation {
    pub(super) text: String,
    pub(super) passed: bool,
    pub(super) evidence: String,
}

/// How many expectations are true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) total: usize,
    /// 0 to 1; 0 without expectations.
    pub(super) pass_rate: f64,
}

/// `timing.json`, without what is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Timing {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
    /// The same duration, as the scripts of the guide read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_duration_seconds: Option<f64>,
}

impl Grading {
    pub(super) fn of(trial: &TrialRecord) -> Self {
        let of_turns = trial.turns.iter().flatten().flat_map(|turn| &turn.graders);
        let expectations: Vec<Expectation> = trial.graders.iter().chain(of_turns).flat_map(expectations).collect();
        let (total, passed) = (expectations.len(), expectations.iter().filter(|it| it.passed).count());
        let pass_rate = passed as f64 / total.max(1) as f64;
        Self { expectations, summary: Summary { passed, failed: total - passed, total, pass_rate } }
    }
}

/// The assertions of a grader, else what it decided. What it did not decide is not true.
fn expectations(grader: &GraderRecord) -> Vec<Expectation> {
    let rationale = grader.rationale.clone().unwrap_or_default();
    if grader.verdict.is_none() || grader.assertions.is_empty() {
        let passed = grader.verdict == Some(Verdict::Pass);
        return vec![Expectation { text: grader.name.clone(), passed, evidence: rationale }];
    }
    let assertions = grader.assertions.iter().map(|assertion| Expectation {
        text: expectation_text(grader, assertion).to_owned(),
        passed: assertion.passed,
        evidence: assertion.evidence.clone().unwrap_or_else(|| rationale.clone()),
    });
    assertions.collect()
}

impl Timing {
    pub(super) fn of(trial: &TrialRecord) -> Self {
        let duration_ms = trial.duration_ms;
        Self {
            total_tokens: trial.usage.map(|usage| usage.total()),
            duration_ms,
            total_duration_seconds: duration_ms.map(|milliseconds| milliseconds as f64 / 1e3),
        }
    }
}
