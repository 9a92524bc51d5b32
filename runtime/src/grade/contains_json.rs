//! The `contains-json` grader: the answer contains a JSON object (an extension, docs/grading-differences.md).

use evalsuite_records::record::Assertion;
use evalsuite_schema::grader::ContainsJson;
use evalsuite_schema::json::{Object, Value};

use crate::grade::assertion_text::shorten;
use crate::grade::json_schema;
use crate::model::score::Score;

pub(crate) fn grade(config: &ContainsJson, answer: &str) -> Score {
    let mut objects = Objects { rest: answer }.peekable();
    if objects.peek().is_none() {
        let assertion = Assertion::new("Output contains no JSON object", false).with_expected("a JSON object");
        return Score::from_assertions([assertion.with_actual(shorten(answer))]);
    }
    match &config.schema {
        None => Score::from_assertions([Assertion::new("Output contains a JSON object", true)]),
        Some(schema) => json_schema::first_that_conforms(schema, objects),
    }
}

/// The JSON objects of a text from left to right, without those that are inside another one.
struct Objects<'a> {
    rest: &'a str,
}

impl Iterator for Objects<'_> {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        while let Some(start) = self.rest.find('{') {
            let text = &self.rest[start..];
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<Object>();
            if let Some(Ok(object)) = values.next() {
                self.rest = &text[values.byte_offset()..];
                return Some(Value::Object(object));
            }
            self.rest = &text[1..];
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::score::ScoreState;

    fn passes(answer: &str) -> bool {
        grade(&ContainsJson::default(), answer).state == ScoreState::Decided(1.0)
    }

    #[test]
    fn an_object_is_found_between_other_text() {
        for answer in ["{}", "Here: {\"a\": {\"b\": 1}}.", "```json\n{\"a\": 1}\n```", "{ not this {\"a\": 1}"] {
            assert!(passes(answer), "{answer}");
        }
        for answer in ["", "no braces", "{a: 1}", "[1, 2]", "{\"a\": 1", "}{"] {
            assert!(!passes(answer), "{answer}");
        }
    }

    #[test]
    fn objects_are_found_once_and_from_left_to_right() {
        let found: Vec<String> =
            Objects { rest: "{\"a\": {\"b\": 1}} { {\"c\": 2}" }.map(|value| value.to_string()).collect();
        assert_eq!(found, ["{\"a\":{\"b\":1}}", "{\"c\":2}"]);
    }

    #[test]
    fn a_flood_of_braces_ends() {
        assert!(!passes(&"{".repeat(1 << 20)));
        assert!(!passes(&"{\"a\":".repeat(1 << 14)));
    }

    #[cfg(feature = "json-schema")]
    #[test]
    fn one_object_has_to_conform() {
        use evalsuite_schema::PathRef;
        use evalsuite_schema::grader::JsonSchema;
        use evalsuite_schema::json::json;

        let file = Some(PathRef::found("card.json", "suites/x/card.json"));
        let schema = json!({"required": ["price"], "properties": {"price": {"type": "number"}}});
        let config = ContainsJson { schema: Some(JsonSchema { file, schema }) };
        let passes = |answer: &str| grade(&config, answer).state == ScoreState::Decided(1.0);
        assert!(passes("{\"title\": \"tea\"} and {\"price\": 2.5}"));
        assert!(!passes("{\"title\": \"tea\"} and {\"price\": \"2.5\"}"));
        assert!(!passes("nothing"));
        let listed = grade(&config, "{} {\"price\": \"2.5\"}").assertions;
        assert_eq!(listed.len(), 2, "the violations of every object are listed: {listed:?}");
    }
}
