//! Takes the place of `json_schema` in a build without the feature: every answer is an error.

use evalsuite_schema::Value;
use evalsuite_schema::grader::JsonSchema;

use crate::model::score::Score;

pub(crate) fn grade(config: &JsonSchema, _answer: &str) -> Score {
    first_that_conforms(config, [])
}

pub(crate) fn first_that_conforms(
    _config: &JsonSchema,
    _values: impl IntoIterator<Item = serde_json::Result<Value>>,
) -> Score {
    Score::error("evalsuite was built without its feature `json-schema`")
}
