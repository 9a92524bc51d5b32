//! What the spans of an agent's call say about it.

use evalsuite_schema::{Message, record::Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What spans told of an agent's call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Captured {
    /// `None`: no span told of a call of a model, tool or agent.
    pub(crate) messages: Option<Vec<Message>>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost_usd: Option<f64>,
    /// The model that answered last.
    pub(crate) model: Option<String>,
    /// What models were told they could call.
    pub(crate) tools: Vec<Value>,
    /// Why spans may be missing.
    pub(crate) doubt: Option<String>,
}
