//! How a trial ended: graded, or early and after which phase.

use crate::grade::scoring::TrialScore;
use crate::run::selection::requirements;
use crate::run::settings::Settings;
use crate::run::trial::captured::{Captured, Interrupted};
use crate::run::trial::early_end::EarlyEnd;
use crate::run::trial::graded::Graded;

/// The end of a trial, with what its phases returned.
pub(crate) enum TrialEnd {
    /// It ended before it had a workspace.
    Unprepared(EarlyEnd),
    /// It ended before its agent was called.
    NotCalled(EarlyEnd),
    /// Its agent was called, but left nothing that could be graded.
    NotGraded(Box<Interrupted>),
    Graded(Box<Captured>, Graded),
}

impl TrialEnd {
    /// The end, and the score of the trial.
    pub(crate) fn scored(self, settings: &Settings) -> (Self, TrialScore) {
        let early = match &self {
            Self::Graded(_, graded) => {
                let score = graded.score.clone();
                return (self, score);
            }
            Self::Unprepared(end) | Self::NotCalled(end) => end,
            Self::NotGraded(interrupted) => &interrupted.end,
        };
        let mut score = TrialScore::from(early.clone());
        requirements::refuse_skip(settings, &mut score.outcome, &mut score.reason);
        (self, score)
    }

    /// The answer, as far as the record has it.
    pub(crate) fn answer(&self) -> Option<&str> {
        let report = match self {
            Self::Graded(captured, _) => &captured.report,
            Self::NotGraded(interrupted) => &interrupted.report,
            Self::Unprepared(_) | Self::NotCalled(_) => return None,
        };
        report.answer.as_ref().map(|(answer, _)| answer.as_str())
    }
}

impl From<EarlyEnd> for TrialScore {
    fn from(end: EarlyEnd) -> Self {
        Self { outcome: end.outcome, score: None, reason: Some(end.reason), notes: Vec::new() }
    }
}
