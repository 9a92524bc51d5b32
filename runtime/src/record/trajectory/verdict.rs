//! The result of a trial in its trajectory: in evalsuite's format, and in that of other tools.

use evalsuite_records::record::{GraderRecord, GraderState, Reason, Status, Verdict};
use serde::Serialize;

/// The result of a trial and its graders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialResult<'a> {
    pub(crate) outcome: Status,
    pub(crate) score: Option<f64>,
    pub(crate) reason: Option<&'a Reason>,
    pub(crate) graders: &'a [GraderRecord],
}

/// Outcome, score and verdicts.
#[derive(Debug, Serialize)]
pub(crate) struct TrialVerdict<'a> {
    outcome: Status,
    score: Option<f64>,
    reason: Option<&'a Reason>,
    graders: Vec<GraderVerdict<'a>>,
}

#[derive(Debug, Serialize)]
struct GraderVerdict<'a> {
    name: &'a str,
    state: GraderState,
    verdict: Option<Verdict>,
    value: Option<f64>,
}

/// The same as `reward`, by which other tools know whether a trajectory is a good one.
#[derive(Debug, Serialize)]
pub(crate) struct Reward<'a> {
    pass: bool,
    score: Option<f64>,
    scorers: Vec<Scorer<'a>>,
}

#[derive(Debug, Serialize)]
struct Scorer<'a> {
    name: &'a str,
    value: Option<f64>,
    pass: bool,
    reason: Option<&'a str>,
}

impl<'a> TrialResult<'a> {
    pub(crate) fn verdict(&self) -> TrialVerdict<'a> {
        let mut graders = Vec::new();
        for GraderRecord { name, state, verdict, value, .. } in self.graders {
            graders.push(GraderVerdict { name, state: *state, verdict: *verdict, value: *value });
        }
        TrialVerdict { outcome: self.outcome, score: self.score, reason: self.reason, graders }
    }

    /// `None` if the trial was not graded to its end.
    pub(crate) fn reward(&self) -> Option<Reward<'a>> {
        if !matches!(self.outcome, Status::Passed | Status::Failed) {
            return None;
        }
        let mut scorers = Vec::new();
        for GraderRecord { name, verdict, value, rationale, .. } in self.graders {
            if let Some(verdict) = verdict {
                scorers.push(Scorer { name, value: *value, pass: verdict.is_pass(), reason: rationale.as_deref() });
            }
        }
        Some(Reward { pass: self.outcome == Status::Passed, score: self.score, scorers })
    }
}
