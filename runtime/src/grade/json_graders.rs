//! The graders `is-json`, the whole answer is one JSON value, and `contains-json`, the answer contains a JSON object (an extension,
//! docs/grading-differences.md).

use evalsuite_records::record::Assertion;
use evalsuite_schema::grader::ContainsJson;
use evalsuite_schema::json::{Object, Value};
use serde::de::IgnoredAny;

use crate::grade::assertion_text::shorten;
use crate::grade::json_schema;
use crate::model::score::Score;

pub(crate) fn is_json(answer: &str) -> Score {
    Score::from_assertions([match serde_json::from_str::<IgnoredAny>(answer) {
        Ok(_) => Assertion::new("Output is valid JSON", true),
        Err(error) => Assertion::new("Output is not valid JSON", false)
            .with_expected("one JSON value")
            .with_actual(shorten(answer))
            .with_evidence(error.to_string()),
    }])
}

pub(crate) fn contains_json(config: &ContainsJson, answer: &str) -> Score {
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
        contains_json(&ContainsJson::default(), answer).state == ScoreState::Decided(1.0)
    }

    #[test]
    fn the_whole_answer_is_one_value() {
        for json in ["{}", " [1, 2]\n", "\"x\"", "null", "-1e3"] {
            assert_eq!(is_json(json).state, ScoreState::Decided(1.0), "{json}");
        }
        for other in ["", "{} {}", "\u{feff}{}", "```json\n{}\n```", "{'a': 1}", "[1,]", "NaN"] {
            assert_eq!(is_json(other).state, ScoreState::Decided(0.0), "{other}");
        }
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
        let passes = |answer: &str| contains_json(&config, answer).state == ScoreState::Decided(1.0);
        assert!(passes("{\"title\": \"tea\"} and {\"price\": 2.5}"));
        assert!(!passes("{\"title\": \"tea\"} and {\"price\": \"2.5\"}"));
        assert!(!passes("nothing"));
        let listed = contains_json(&config, "{} {\"price\": \"2.5\"}").assertions;
        assert_eq!(listed.len(), 2, "the violations of every object are listed: {listed:?}");
    }
}
