//! Settings of `json-schema` and `contains-json`.

use crate::Value;
use serde::{Deserialize, Serialize};

use crate::PathRef;

/// A JSON Schema: the settings of `json-schema`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JsonSchema {
    /// The file of the schema.
    pub file: PathRef,
    /// The schema as it was while compiling: an object or a boolean, whose references are all internal.
    pub schema: Value,
}

/// Settings of `contains-json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContainsJson {
    /// What one of the objects conforms to; `None`: any object will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<JsonSchema>,
}
