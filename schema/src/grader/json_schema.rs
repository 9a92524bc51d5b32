//! Settings of `json-schema`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::PathRef;

/// Settings of `json-schema`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JsonSchema {
    /// The file of the schema.
    pub file: PathRef,
    /// The schema as it was while compiling: an object or a boolean, whose references are all internal.
    pub schema: Value,
}
