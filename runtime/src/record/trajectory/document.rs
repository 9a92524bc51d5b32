//! The structure of written documents.

use evalsuite_schema::{Object, Value};
use serde::Serialize;

use crate::record::trajectory::verdict::{Reward, TrialVerdict};

#[derive(Debug, Serialize)]
pub(crate) struct Document<'d> {
    pub(crate) schema_version: &'static str,
    pub(crate) session_id: String,
    pub(crate) trajectory_id: String,
    pub(crate) agent: Agent,
    pub(crate) steps: Vec<Step>,
    pub(crate) final_metrics: FinalMetrics,
    pub(crate) extra: DocumentExtra<'d>,
}

/// What ATIF has no field for in a document. Readers know the keys as those of `extra`.
#[derive(Debug, Serialize)]
pub(crate) struct DocumentExtra<'d> {
    pub(crate) evalsuite: TrialVerdict<'d>,
    /// In the form in which mira writes and reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reward: Option<Reward<'d>>,
    /// `false` if there was no transcript, only an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) transcript_reported: Option<bool>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_definitions: Vec<Value>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    System,
    User,
    #[default]
    Agent,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Step {
    pub(crate) step_id: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timestamp: Option<String>,
    pub(crate) source: Source,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_name: Option<String>,
    pub(crate) message: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<Call>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observation: Option<Observation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metrics: Option<Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) llm_call_count: Option<u64>,
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub(crate) extra: Object,
}

#[derive(Debug, Serialize)]
pub(crate) struct Call {
    pub(crate) tool_call_id: String,
    pub(crate) function_name: String,
    pub(crate) arguments: Object,
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub(crate) extra: Object,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Observation {
    pub(crate) results: Vec<Result>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Result {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<Value>,
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub(crate) extra: Object,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct FinalMetrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_prompt_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_cached_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_cost_usd: Option<f64>,
    pub(crate) total_steps: usize,
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub(crate) extra: Object,
}
