//! Settings of `json-schema` and `contains-json`.

use crate::Value;
use evalsuite_derive::Keys;
use serde::{Deserialize, Serialize};

use crate::PathRef;

/// A JSON Schema: the settings of `json-schema`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Keys)]
#[keys(by_hand)]
#[also(schema: File, "./refund.schema.json", "The schema: a JSON or YAML file of draft 6, 7, 2019-09 or 2020-12.", required,
    codes(InvalidJsonSchema), by_hand)]
pub struct JsonSchema {
    /// The file of the schema.
    pub file: PathRef,
    /// The schema at compile time: an object or a boolean, with only internal references.
    pub schema: Value,
}

/// Settings of `contains-json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Keys)]
pub struct ContainsJson {
    /// The schema: a JSON or YAML file of draft 6, 7, 2019-09 or 2020-12.
    #[key(File, "./refund.schema.json", default = "any object will do", codes(InvalidJsonSchema), by_hand)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<JsonSchema>,
}
