//! Settings of `json-schema` and `contains-json`.

use crate::Value;
use serde::{Deserialize, Serialize};

use crate::PathRef;

/// A JSON Schema: the settings of `json-schema`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JsonSchema {
    /// The file of the schema.
    pub file: PathRef,
    /// The schema at compile time: an object or a boolean, with only internal references.
    pub schema: Value,
}

/// Settings of `contains-json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContainsJson {
    /// Schema of one of the objects; `None`: any object passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<JsonSchema>,
}
