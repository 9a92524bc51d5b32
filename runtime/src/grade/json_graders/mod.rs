//! The graders `is-json`, the whole answer is one JSON value, and `contains-json`, the answer contains a JSON object (an extension,
//! docs/grading-differences.md).

#[cfg_attr(not(feature = "json-schema"), path = "without_json_schema.rs")]
pub(crate) mod json_schema;

use evalsuite_records::record::Assertion;
use evalsuite_schema::grader::ContainsJson;
use evalsuite_schema::json::{Reader, Value, from_str_with_unique_keys};
use serde::de::IgnoredAny;

use crate::grade::assertion_text::shorten;
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
///
/// A brace that is followed by a key and a colon starts an object. If it cannot be read to its end, because the text ends before it or
/// because it is not JSON, what is inside of it is not an object of the text. Other braces are text. An object that repeats a key is an error: it
/// has no definite value.
struct Objects<'a> {
    rest: &'a str,
}

impl Iterator for Objects<'_> {
    type Item = serde_json::Result<Value>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(start) = self.rest.find('{') {
            let text = &self.rest[start..];
            if !starts_object(text) {
                self.rest = &text[1..];
                continue;
            }
            let mut reader = Reader::new(text);
            if reader.value::<Value>().is_ok() {
                let (object, rest) = text.split_at(reader.offset());
                self.rest = rest;
                return Some(from_str_with_unique_keys(object));
            }
            self.rest = after_object(text);
        }
        None
    }
}

/// Whether a text that begins with a brace is the start of a JSON object: an empty one, or a key and a colon.
fn starts_object(text: &str) -> bool {
    let inside = after_space(&text[1..]);
    inside.starts_with('}')
        || inside.strip_prefix('"').is_some_and(|key| after_space(after_string(key)).starts_with(':'))
}

fn after_space(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

/// What follows a string of JSON, of which the first quote was read.
fn after_string(text: &str) -> &str {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or("", |end| &text[end + 1..])
}

/// What follows the brace that closes the one at the start of a text; braces in strings do not count.
fn after_object(text: &str) -> &str {
    let (mut rest, mut open) = (text, 0_usize);
    while let Some(next) = rest.find(['{', '}', '"']) {
        let after = &rest[next + 1..];
        (rest, open) = match rest.as_bytes()[next] {
            b'"' => (after_string(after), open),
            b'{' => (after, open + 1),
            _ => (after, open - 1),
        };
        if open == 0 {
            return rest;
        }
    }
    ""
}

/// What the graders of this file are to probes.
#[cfg(feature = "probe")]
pub(crate) mod to_probes {
    use evalsuite_schema::{Grader, GraderConfig};

    use super::*;
    use crate::grade::probed::{Passing, Probed};

    pub(crate) fn probed(config: &GraderConfig) -> Option<&dyn Probed> {
        match config {
            GraderConfig::IsJson => {
                Some(&Document("any JSON passes: `json-schema` or `field-accuracy` would distinguish"))
            }
            GraderConfig::ContainsJson(ContainsJson { schema: None }) => {
                Some(&Document("any object passes: a `schema` or `field-accuracy` would distinguish"))
            }
            GraderConfig::ContainsJson(_) | GraderConfig::JsonSchema(_) => {
                Some(&Document("the schema accepts a document that says nothing: `field-accuracy` compares its values"))
            }
            _ => None,
        }
    }

    /// A grader of the form of a document, and its advice.
    struct Document(&'static str);

    impl Probed for Document {
        fn wants_document(&self) -> bool {
            true
        }

        fn reads_data(&self) -> bool {
            true
        }

        fn advice(&self, _grader: &Grader, _passing: &Passing<'_>) -> Option<String> {
            Some(self.0.to_owned())
        }
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
        // The grammar of RFC 8259, which has neither names without repeats nor limits of numbers.
        for json in ["{\"a\": 1, \"a\": 2}", "1e999", "-0", "1E+2", "\"\\ud800\"", "\"\u{7f}\u{2028}\""] {
            assert_eq!(is_json(json).state, ScoreState::Decided(1.0), "{json}");
        }
        let not_json = [
            "Infinity",
            "-NaN",
            "01",
            "1.",
            ".5",
            "+1",
            "0x1",
            "\"\n\"",
            "\"\\x41\"",
            "\u{a0}{}",
            "{}\0",
            "tru",
            "{,}",
        ];
        for other in not_json {
            assert_eq!(is_json(other).state, ScoreState::Decided(0.0), "{other}");
        }
        for other in ["", "{} {}", "\u{feff}{}", "```json\n{}\n```", "{'a': 1}", "[1,]", "NaN"] {
            assert_eq!(is_json(other).state, ScoreState::Decided(0.0), "{other}");
        }
    }

    #[test]
    fn an_object_is_found_between_other_text() {
        for answer in [
            "{}",
            "{ \n}",
            "Here: {\"a\": {\"b\": 1}}.",
            "```json\n{\"a\": 1}\n```",
            "{ not this {\"a\": 1}",
            "{\"quoted\" text {\"a\": 1}",
            "f() { return {\"a\": 1}",
            "[{\"a\": 1}, {\"b\": ",
            "{\"a\": <text>} and {\"a\": \"} {\"}",
            "{\"a\": {\"b\": 1},} {\"c\": 2}",
            "{{\"a\": 1}}",
            "{\"a\\\"{\" : \"\\\\\"}",
        ] {
            assert!(passes(answer), "{answer}");
        }
        for answer in ["", "no braces", "{a: 1}", "[1, 2]", "{\"a\": 1", "}{", "{", "{\"", "{\"a"] {
            assert!(!passes(answer), "{answer}");
        }
    }

    #[test]
    fn a_part_of_an_object_that_cannot_be_read_is_not_an_object() {
        for answer in [
            "{\"a\": {\"b\": 1}, \"c\": ",
            "{\"a\": {\"b\": 1}, \"c",
            "{\"a\": {\"b\": 1}",
            "{\"a\": [{\"b\": 1}, {\"c\": 2}",
            "{\"a\": \"text {\\\"b\\\": 1} {\"b\": 1}",
            "{\n  \"a\": {}, ",
            "Sure: {\"a\": {\"b\": {\"c\": {}}",
            "{\"a\": {\"b\": 1},}",
            "{\"a\": oops, \"b\": {\"c\": 1}}",
            "{\"a\": {\"b\": 1} \"c\": 2}",
            "{\"a\": 1 {\"b\": 2}}",
            "{\"a\": {\"b\": 1}, 'c': 2}",
        ] {
            assert!(!passes(answer), "{answer}");
        }
        let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        assert!(passes(&nested(100)) && !passes(&nested(1000)));
        assert!(passes(&format!("{} {}", nested(1000), nested(2))));
    }

    #[test]
    fn objects_are_found_once_and_from_left_to_right() {
        let found: Vec<String> =
            Objects { rest: "{\"a\": {\"b\": 1}} { {\"c\": 2}" }.map(|value| value.unwrap().to_string()).collect();
        assert_eq!(found, ["{\"a\":{\"b\":1}}", "{\"c\":2}"]);
    }

    #[test]
    fn a_flood_of_braces_ends() {
        assert!(!passes(&"{".repeat(1 << 20)));
        for part in ["{\"a\":", "{\"", "{ \"a", "{\"a\":{},", "{\"a\": x}", "{   ", "{\"\\\"", "{\"a\":\"{"] {
            assert!(!passes(&part.repeat(1 << 18)), "{part}");
        }
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
        let ambiguous = "{\"price\": \"2.5\", \"price\": 2.5}";
        let score = contains_json(&config, ambiguous);
        assert_eq!((&score.state, score.has_no_checks), (&ScoreState::Decided(0.0), true), "{score:?}");
        assert!(passes(&format!("{ambiguous} {{\"price\": 2.5}}")));
        let listed = contains_json(&config, "{} {\"price\": \"2.5\"}").assertions;
        assert_eq!(listed.len(), 2, "the violations of every object are listed: {listed:?}");
        let wanted =
            evalsuite_schema::json::from_str(r#"{"properties": {"n": {"const": 18446744073709551616}}}"#).unwrap();
        let config = ContainsJson { schema: Some(JsonSchema { file: None, schema: wanted }) };
        let state = |answer: &str| contains_json(&config, answer).state;
        assert_eq!(state("n is {\"n\": 18446744073709551616}"), ScoreState::Decided(1.0));
        assert!(matches!(state("n is {\"n\": 18446744073709551617}"), ScoreState::Error(_)));
    }
}
