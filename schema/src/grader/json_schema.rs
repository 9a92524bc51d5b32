//! Settings of `json-schema` and `contains-json`.

use super::GraderSettings;
use crate::Value;
use crate::json::{FromJson, FromJsonOverDefault, ToJson};
use evalsuite_derive::{Keys, skip_empty};

use crate::PathRef;

/// Types of the key `schema`.
const SCHEMA: crate::keys::Type = crate::keys::Type::OneOf(&[crate::keys::Type::File, crate::keys::Type::Data]);

/// The answer, without code fences, is JSON that conforms to a JSON Schema. The build checks the schema. `format` is enforced in all drafts, and
/// nothing is fetched. Needs the feature `json-schema` of evalsuite.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(by_hand)]
#[also(schema: SCHEMA, "./refund.schema.json", "The schema, of draft 6, 7, 2019-09 or 2020-12: a JSON or YAML file, or the schema itself.", required,
    codes(InvalidJsonSchema), by_hand)]
pub struct JsonSchema {
    /// The file of the schema; `None` if it is written in the grader.
    pub file: Option<PathRef>,
    /// The schema at compile time: an object or a boolean, with only internal references.
    pub schema: Value,
}

impl GraderSettings for JsonSchema {
    fn json_schema(&self) -> Option<&Value> {
        Some(&self.schema)
    }
}

impl JsonSchema {
    /// What it is called in results: its file as written, or `the schema`.
    pub fn name(&self) -> &str {
        self.file.as_ref().map_or("the schema", |file| &file.written)
    }
}

/// The answer contains a JSON object, between any other text. If an object is not finished or not JSON, the objects in it do not count. With
/// `schema`, one of the objects conforms to it, as in `json-schema`; objects inside others are not checked, and one that repeats a key conforms to no
/// schema.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
pub struct ContainsJson {
    /// The schema, of draft 6, 7, 2019-09 or 2020-12: a JSON or YAML file, or the schema itself.
    #[key(SCHEMA, "./refund.schema.json", default = "any object passes", codes(InvalidJsonSchema), by_hand)]
    pub schema: Option<JsonSchema>,
}

impl GraderSettings for ContainsJson {
    fn json_schema(&self) -> Option<&Value> {
        self.schema.as_ref().map(|schema| &schema.schema)
    }
}
