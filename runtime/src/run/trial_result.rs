//! How a trial ended, for what runs after it.

use evalsuite_records::record::Status;
use evalsuite_schema::json::{FromJson, ToJson};

/// How a trial ended.
#[derive(Debug, Clone, ToJson, FromJson)]
pub(crate) struct TrialResult {
    pub(crate) outcome: Status,
    pub(crate) score: Option<f64>,
    /// The answer, as far as the record has it; `None` where the agent gave none.
    pub(crate) answer: Option<String>,
}
