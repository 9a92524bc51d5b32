//! Graders of JSON in the answer.

use super::grader;
use crate::diagnostic::Code;
use crate::keys::{Key, Table, Type};

pub(crate) static IS_JSON: Table =
    grader("is-json", "`is-json`", r#"{ type: is-json }"#, "The answer is one JSON value.", &[]);

pub(crate) static CONTAINS_JSON: Table = grader(
    "contains-json",
    "`contains-json`",
    r#"{ type: contains-json, schema: ./refund.schema.json }"#,
    "The answer contains a JSON object, between any other text. With `schema`, one of its objects conforms to it, as with `json-schema`, \
     which also says how schemas are checked and which feature they need. An object inside an object is not looked at by itself.",
    &[Key::new(
        "schema",
        Type::File,
        "The schema: a JSON or YAML file of draft 6, 7, 2019-09 or 2020-12.",
        "./refund.schema.json",
    )
    .default("any object will do")
    .codes(&[Code::InvalidJsonSchema])],
);

pub(crate) static JSON_SCHEMA: Table = grader(
    "json-schema",
    "`json-schema`",
    r#"{ type: json-schema, schema: ./refund.schema.json }"#,
    "The answer, without code fences, is JSON that conforms to a JSON Schema. The schema is checked at compile time: misspelled \
     keywords, invalid patterns, references out of the file and reference cycles are reported with their location. `format` is enforced \
     in all drafts, and nothing is ever fetched. The validator takes a while to compile and is therefore a feature: \
     `cargo add --dev evalsuite --features json-schema`. Without it, the generated test `suite_check` reports that the feature is missing.",
    &[Key::new(
        "schema",
        Type::File,
        "The schema: a JSON or YAML file of draft 6, 7, 2019-09 or 2020-12.",
        "./refund.schema.json",
    )
    .required()
    .codes(&[Code::InvalidJsonSchema])],
);
