//! The result of a grader, before pass mark and negation.

use evalsuite_records::record::{CommandRecord, GraderKind, GraderRecord, JudgeRecord, ReasonCode};

use crate::judge::repeated_calls::JudgeFailure;
use crate::model::score::Score;

/// The result of a grader, before pass mark and negation.
#[derive(Debug)]
pub(crate) struct GraderResult {
    pub(crate) score: Score,
    /// The verdict is `fail` whatever the value.
    pub(crate) forced_fail: bool,
    /// Who decided; `None`: the kind of the grader's type.
    pub(crate) kind: Option<GraderKind>,
    /// The grader's own pass mark.
    pub(crate) pass_mark: Option<f64>,
    pub(crate) command: Option<CommandRecord>,
    pub(crate) members: Vec<GraderRecord>,
    /// The calls of judges.
    pub(crate) judge: Option<JudgeRecord>,
    /// Why the grader is an error, where a judge is the cause.
    pub(crate) code: Option<ReasonCode>,
}

impl From<Score> for GraderResult {
    fn from(score: Score) -> Self {
        Self {
            score,
            forced_fail: false,
            kind: None,
            pass_mark: None,
            command: None,
            members: Vec::new(),
            judge: None,
            code: None,
        }
    }
}

impl From<JudgeFailure> for GraderResult {
    fn from(JudgeFailure { message, code }: JudgeFailure) -> Self {
        Self { code: Some(code), ..Score::error(message).into() }
    }
}
