//! Data of an agent's call that was captured from its spans.

use evalsuite_schema::Message;
use evalsuite_schema::record::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Data of an agent's call from its spans.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Captured {
    /// `None` if no span is a call of a model, tool or agent.
    pub(crate) messages: Option<Vec<Message>>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost_usd: Option<f64>,
    /// The model of the last call.
    pub(crate) model: Option<String>,
    /// Definitions of the tools that were offered to models.
    pub(crate) tools: Vec<Value>,
    /// Why spans may be missing, for a note in the record.
    pub(crate) doubt: Option<String>,
}
