//! The structure of written documents, and the result of a trial in them: in evalsuite's format, and in that of other tools.

use evalsuite_records::record::{GraderRecord, GraderState, Reason, Status, Verdict};
use evalsuite_schema::json::ToJson;
use evalsuite_schema::{Object, Value};

#[derive(Debug, ToJson)]
pub(crate) struct TrajectoryDocument<'d> {
    pub(crate) schema_version: &'static str,
    pub(crate) session_id: String,
    pub(crate) trajectory_id: String,
    pub(crate) agent: Agent,
    pub(crate) steps: Vec<Step>,
    pub(crate) final_metrics: Object,
    pub(crate) extra: DocumentExtra<'d>,
}

/// What ATIF has no field for in a document. Readers know the keys as those of `extra`.
#[derive(Debug, ToJson)]
pub(crate) struct DocumentExtra<'d> {
    pub(crate) evalsuite: TrialVerdict<'d>,
    /// In the form in which mira writes and reads it.
    #[json(skip_if = "Option::is_none")]
    pub(crate) reward: Option<Reward<'d>>,
    /// `false` if there was no transcript, only an answer.
    #[json(skip_if = "Option::is_none")]
    pub(crate) transcript_reported: Option<bool>,
}

#[derive(Debug, ToJson)]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) version: String,
    #[json(skip_if = "Option::is_none")]
    pub(crate) model_name: Option<String>,
    #[json(skip_if = "Vec::is_empty")]
    pub(crate) tool_definitions: Vec<Value>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson)]
#[json(rename_all = "lowercase")]
pub(crate) enum Source {
    System,
    User,
    #[default]
    Agent,
}

#[derive(Debug, Default, ToJson)]
pub(crate) struct Step {
    pub(crate) step_id: usize,
    #[json(skip_if = "Option::is_none")]
    pub(crate) timestamp: Option<String>,
    pub(crate) source: Source,
    #[json(skip_if = "Option::is_none")]
    pub(crate) model_name: Option<String>,
    pub(crate) message: Value,
    #[json(skip_if = "Option::is_none")]
    pub(crate) reasoning_content: Option<String>,
    #[json(skip_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<Call>,
    #[json(skip_if = "Option::is_none")]
    pub(crate) observation: Option<Observation>,
    #[json(skip_if = "Object::is_empty")]
    pub(crate) metrics: Object,
    #[json(skip_if = "Option::is_none")]
    pub(crate) llm_call_count: Option<u64>,
    #[json(skip_if = "Object::is_empty")]
    pub(crate) extra: Object,
}

#[derive(Debug, ToJson)]
pub(crate) struct Call {
    pub(crate) tool_call_id: String,
    pub(crate) function_name: String,
    pub(crate) arguments: Object,
    #[json(skip_if = "Object::is_empty")]
    pub(crate) extra: Object,
}

#[derive(Debug, Default, ToJson)]
pub(crate) struct Observation {
    pub(crate) results: Vec<Result>,
}

#[derive(Debug, ToJson)]
pub(crate) struct Result {
    #[json(skip_if = "Option::is_none")]
    pub(crate) source_call_id: Option<String>,
    #[json(skip_if = "Option::is_none")]
    pub(crate) content: Option<Value>,
    #[json(skip_if = "Object::is_empty")]
    pub(crate) extra: Object,
}

/// The result of a trial and its graders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialResult<'a> {
    pub(crate) outcome: Status,
    pub(crate) score: Option<f64>,
    pub(crate) reason: Option<&'a Reason>,
    pub(crate) graders: &'a [GraderRecord],
}

/// Outcome, score and verdicts.
#[derive(Debug, ToJson)]
pub(crate) struct TrialVerdict<'a> {
    outcome: Status,
    score: Option<f64>,
    reason: Option<&'a Reason>,
    graders: Vec<GraderVerdict<'a>>,
}

#[derive(Debug, ToJson)]
struct GraderVerdict<'a> {
    name: &'a str,
    state: GraderState,
    verdict: Option<Verdict>,
    value: Option<f64>,
}

/// The same as `reward`, by which other tools know whether a trajectory is a good one.
#[derive(Debug, ToJson)]
pub(crate) struct Reward<'a> {
    pass: bool,
    score: Option<f64>,
    scorers: Vec<Scorer<'a>>,
}

#[derive(Debug, ToJson)]
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
