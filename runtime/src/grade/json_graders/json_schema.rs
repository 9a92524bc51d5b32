//! The `json-schema` grader: the answer is valid against a JSON Schema (an extension, docs/grading-differences.md).

use std::collections::HashMap;
use std::sync::LazyLock;

use evalsuite_records::record::Assertion;
use evalsuite_schema::Value;
use evalsuite_schema::grader::JsonSchema;
use evalsuite_schema::json::{Number, from_str_with_unique_keys};

use crate::grade::assertion_text::{in_text, shorten};
use crate::grade::grader_record::GraderResult;
use crate::model::score::Score;

/// Largest number of violations that are listed.
const LISTED: usize = 100;

pub(crate) fn grade(config: &JsonSchema, answer: &str) -> GraderResult {
    let file = config.name();
    let answer_value = match from_str_with_unique_keys(&without_fences(answer)) {
        Ok(value) => value,
        Err(error) => {
            let assertion = Assertion::new("Output is not valid JSON", false)
                .with_expected(format!("JSON as {} describes it", shorten(file)))
                .with_actual(shorten(answer))
                .with_evidence(error.to_string());
            return GraderResult::without_evidence([assertion]);
        }
    };
    first_that_conforms(config, [Ok(answer_value)]).into()
}

/// Passes if a value conforms to the schema; otherwise the violations of all values are listed. If one of them cannot be read, the result is a
/// fail, also if it is inverted.
pub(crate) fn first_that_conforms(
    config: &JsonSchema,
    values: impl IntoIterator<Item = serde_json::Result<Value>>,
) -> Score {
    let file = config.name();
    let validator = match validator(&config.schema) {
        Ok(validator) => validator,
        Err(error) => return Score::error(format!("{file} is not a usable JSON Schema: {error}")),
    };
    let (mut assertions, mut more) = (Vec::new(), 0);
    let mut wanted = Wanted::default();
    wanted.add(&config.schema);
    let mut has_no_checks = false;
    for value in values {
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                has_no_checks = true;
                assertions.push(
                    Assertion::new("Output contains an object that cannot be read", false)
                        .with_evidence(error.to_string()),
                );
                continue;
            }
        };
        if let Some(reason) = wanted.rounded(&value) {
            return Score::error(reason);
        }
        let instance = serde_json::Value::from(&value);
        let mut violations = validator.iter_errors(&instance).peekable();
        if violations.peek().is_none() {
            return Score::from_assertions([Assertion::new(format!("Output matches {}", in_text(file)), true)]);
        }
        let room = LISTED.saturating_sub(assertions.len());
        assertions.extend(violations.by_ref().take(room).map(|error| violation(&error, &value, &config.schema)));
        more += violations.count();
    }
    if more > 0 {
        assertions.push(Assertion::new(format!("… and {more} more violations"), false));
    }
    Score { assertions, has_no_checks, ..Score::from(false) }
}

/// What a schema asks of numbers.
#[derive(Default)]
struct Wanted<'s> {
    /// Numbers with which others are compared.
    compared: Vec<&'s Number>,
    /// Numbers by which others are divided.
    divisors: Vec<&'s Number>,
    /// Whether the elements of a list have to be different.
    are_different: bool,
}

impl<'s> Wanted<'s> {
    fn add(&mut self, schema: &'s Value) {
        match schema {
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(object) => object.iter().for_each(|(key, value)| match key.as_str() {
                "const" | "enum" | "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" => {
                    numbers(value, &mut self.compared);
                }
                "multipleOf" => numbers(value, &mut self.divisors),
                "uniqueItems" => self.are_different |= *value == true,
                _ => self.add(value),
            }),
            _ => {}
        }
    }

    /// Why the validator could be wrong about a value: it gets the nearest floats of integers beyond 64 bits, and divides the nearest float of
    /// any integer by a number with a fraction.
    fn rounded(&self, value: &Value) -> Option<String> {
        let mut found = Vec::new();
        if !self.compared.is_empty() || !self.divisors.is_empty() || self.are_different {
            numbers(value, &mut found);
        }
        let is_large = found.iter().chain(&self.compared).any(|number| number.is_large());
        if is_large && let Some((wanted, found)) = self.taken_for_each_other(&found) {
            return Some(format!("the validator rounds integers beyond 64 bits, and takes {found} for {wanted}"));
        }
        self.divisors.iter().find_map(|divisor| {
            let is_rounded = |number: &&&Number| {
                number.is_large() && divisor.as_u64() != Some(1) || divisor.is_f64() && !number.is_float_exactly()
            };
            let number = found.iter().find(is_rounded)?;
            Some(format!("the validator rounds {number}, and cannot say whether it is a multiple of {divisor}"))
        })
    }

    /// Two different numbers that have the same float, one of them an integer beyond 64 bits.
    fn taken_for_each_other<'n>(&self, found: &[&'n Number]) -> Option<(&'n Number, &'n Number)>
    where
        's: 'n,
    {
        let mut wanted: HashMap<u64, Vec<&'n Number>> = HashMap::new();
        // Both zeros are one number.
        let float = |number: &Number| number.as_f64().map(|float| (float + 0.0).to_bits());
        for number in &self.compared {
            wanted.entry(float(number)?).or_default().push(number);
        }
        found.iter().find_map(|number| {
            let alike = wanted.entry(float(number)?).or_default();
            let is_other = |other: &&&Number| (number.is_large() || other.is_large()) && !number.is_same(other);
            let other = alike.iter().find(is_other).copied();
            if self.are_different && alike.is_empty() {
                alike.push(number);
            }
            Some((other?, *number))
        })
    }
}

/// Adds all numbers in a value.
fn numbers<'v>(value: &'v Value, found: &mut Vec<&'v Number>) {
    match value {
        Value::Number(number) => found.push(number),
        Value::Array(items) => items.iter().for_each(|item| numbers(item, found)),
        Value::Object(object) => object.values().for_each(|value| numbers(value, found)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Formats that came with later drafts than draft-06.
const LATER_FORMATS: [&str; 6] = ["duration", "idn-hostname", "iri", "iri-reference", "relative-json-pointer", "uuid"];

/// Formats are checked in every draft, as authors of schemas expect. The validator checks those that the draft has.
fn validator(schema: &Value) -> Result<jsonschema::Validator, jsonschema::ValidationError<'static>> {
    let mut options = jsonschema::options().should_validate_formats(true);
    if schema["$schema"].as_str().is_some_and(|draft| draft.contains("/draft-0")) {
        for name in LATER_FORMATS {
            let newest = LazyLock::new(move || {
                let options = jsonschema::options().should_validate_formats(true);
                options.build(&serde_json::json!({ "format": name })).expect("a schema")
            });
            options = options.with_format(name, move |text: &str| newest.is_valid(&serde_json::Value::from(text)));
        }
    }
    options.build(&schema.clone().into())
}

/// The answer without the lines that start or end a block of code. JSON has no line that starts with a fence.
fn without_fences(answer: &str) -> String {
    let lines: Vec<&str> = answer.lines().filter(|line| !line.trim_start().starts_with("```")).collect();
    lines.join("\n")
}

fn violation(error: &jsonschema::ValidationError<'_>, answer: &Value, schema: &Value) -> Assertion {
    let place = match error.instance_path().as_str() {
        "" => "the answer".to_owned(),
        path => in_text(path),
    };
    let rule = error.schema_path().as_str();
    let keyword = rule.rsplit('/').next().unwrap_or_default();
    // A schema that is `false` has no keyword.
    let expected = match schema.pointer(rule) {
        Some(value) if !keyword.is_empty() && !value.is_object() => format!("{keyword}: {value}"),
        _ => format!("a value that {} allows", if rule.is_empty() { "the schema" } else { rule }),
    };
    let problem = error.masked_with("the value").to_string();
    Assertion::new(format!("{place}: {}", in_text(&problem)), false)
        .with_expected(shorten(&expected))
        .with_actual(shorten(&answer.pointer(error.instance_path().as_str()).unwrap_or(answer).to_string()))
        .with_evidence(format!("schema: #{}", shorten(rule)))
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::PathRef;
    use evalsuite_schema::json::json;

    use super::*;
    use crate::model::score::ScoreState;

    fn run(schema: Value, answer: &str) -> Score {
        let file = Some(PathRef::found("card.json", "suites/x/card.json"));
        grade(&JsonSchema { file, schema }, answer).score
    }

    fn card() -> Value {
        json!({
            "type": "object",
            "required": ["title", "price"],
            "properties": {"title": {"type": "string", "maxLength": 5}, "price": {"$ref": "#/$defs/price"}},
            "additionalProperties": false,
            "$defs": {"price": {"type": "number", "minimum": 0}},
        })
    }

    #[test]
    fn an_answer_of_the_shape_passes_fenced_or_not() {
        for answer in [r#"{"title": "tea", "price": 2.5}"#, "```json\n{\"title\": \"tea\",\n\"price\": 0}\n```\n"] {
            assert_eq!(run(card(), answer).state, ScoreState::Decided(1.0), "{answer}");
        }
        assert_eq!(run(json!({"type": "array"}), "[{}, {}]").state, ScoreState::Decided(1.0));
    }

    #[test]
    fn integers_that_the_validator_rounds_are_not_compared() {
        let schema = |text: &str| evalsuite_schema::json::from_str::<Value>(text).unwrap();
        for (of, answer) in [
            (r#"{"const": 18446744073709551617}"#, "18446744073709551618"),
            (r#"{"enum": [1, 18446744073709551615]}"#, "18446744073709551616"),
            (r#"{"properties": {"a": {"const": [18446744073709551616]}}}"#, r#"{"a": [18446744073709551617]}"#),
            (r#"{"minimum": 18446744073709551618}"#, "18446744073709551617"),
            (r#"{"maximum": 18446744073709551616}"#, "18446744073709551617"),
            (r#"{"exclusiveMaximum": 18446744073709551617}"#, "18446744073709551616"),
            (r#"{"exclusiveMinimum": -9223372036854775809}"#, "-9223372036854775808"),
            (r#"{"minimum": -9223372036854775808}"#, "-9223372036854775809"),
            (r#"{"maximum": 1.8446744073709552e19}"#, "18446744073709551617"),
            (r#"{"minimum": 18446744073709551617}"#, "18446744073709551615"),
            (r#"{"maximum": 18446744073709551615}"#, "18446744073709551616"),
            (r#"{"multipleOf": 2}"#, "18446744073709551617"),
            (r#"{"multipleOf": 0.7}"#, "9007199254740993"),
            (r#"{"uniqueItems": true}"#, "[18446744073709551616, 18446744073709551617]"),
            (r#"{"uniqueItems": true}"#, "[[1], [18446744073709551616], {\"a\": 18446744073709551617}]"),
        ] {
            assert!(matches!(run(schema(of), answer).state, ScoreState::Error(_)), "{of} {answer}");
        }
        for (answer, score) in [("1", 0.0), ("36893488147419103232", 0.0), ("18446744073709551617", 1.0)] {
            let state = run(schema(r#"{"const": 18446744073709551617}"#), answer).state;
            assert_eq!(state, ScoreState::Decided(score), "{answer}");
        }
        for (of, answer, score) in [
            (r#"{"type": "integer"}"#, "18446744073709551617", 1.0),
            (r#"{"minimum": 18446744073709551617}"#, "18446744073709551617", 1.0),
            (r#"{"exclusiveMaximum": 18446744073709551617}"#, "18446744073709551617", 0.0),
            (r#"{"multipleOf": 1}"#, "18446744073709551617", 1.0),
            (r#"{"multipleOf": 3}"#, "9007199254740993", 1.0),
            (r#"{"multipleOf": 2}"#, "9007199254740993", 0.0),
            (r#"{"multipleOf": 0.5}"#, "9007199254740992", 1.0),
            (r#"{"uniqueItems": true}"#, "[18446744073709551617, 18446744073709551617]", 0.0),
            (r#"{"uniqueItems": true}"#, "[1, 1, 18446744073709551617]", 0.0),
            (r#"{"const": 9007199254740993}"#, "9007199254740992.0", 0.0),
            (r#"{"maximum": 9007199254740992.0}"#, "9007199254740993", 0.0),
        ] {
            assert_eq!(run(schema(of), answer).state, ScoreState::Decided(score), "{of} {answer}");
        }
    }

    #[test]
    fn every_violation_is_listed_with_its_place() {
        let score = run(card(), r#"{"title": "too long", "price": -1, "colour": "red"}"#);
        assert_eq!(score.state, ScoreState::Decided(0.0));
        let mut lines: Vec<String> = score
            .assertions
            .iter()
            .map(|a| {
                let part = |part: &Option<String>| part.clone().unwrap_or_default();
                format!("{} | {} | {} | {}", a.text, part(&a.expected), part(&a.actual), part(&a.evidence))
            })
            .collect();
        lines.sort();
        assert_eq!(
            lines,
            [
                "/price: the value is less than the minimum of 0 | minimum: 0 | -1 | schema: #/$defs/price/minimum",
                "/title: the value is longer than 5 characters | maxLength: 5 | \"too long\" | \
                 schema: #/properties/title/maxLength",
                "the answer: Additional properties are not allowed ('colour' was unexpected) | \
                 additionalProperties: false | {\"title\":\"too long\",\"price\":-1,\"colour\":\"red\"} | \
                 schema: #/additionalProperties",
            ]
        );
    }

    #[test]
    fn what_is_no_json_fails() {
        for answer in ["", "Here: {}", "{} {}", "{'a': 1}", "{\"a\": 1, \"a\": 1}"] {
            let score = run(json!({}), answer);
            assert_eq!((score.state, score.assertions.len()), (ScoreState::Decided(0.0), 1), "{answer}");
        }
    }

    #[test]
    fn a_flood_of_violations_is_cut() {
        let answer = json!(vec!["x"; 1000]).to_string();
        let score = run(json!({"items": {"type": "number"}}), &answer);
        assert_eq!(score.assertions.len(), LISTED + 1);
        assert_eq!(score.assertions[LISTED].text, "… and 900 more violations");
    }

    #[test]
    fn formats_count_in_every_draft_and_nothing_is_fetched() {
        let formats = "date date-time duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference \
            json-pointer regex relative-json-pointer time uri uri-reference uri-template uuid";
        for draft in [
            "http://json-schema.org/draft-06/schema#",
            "http://json-schema.org/draft-07/schema",
            "https://json-schema.org/draft/2019-09/schema",
            "https://json-schema.org/draft/2020-12/schema",
        ] {
            for format in formats.split_whitespace() {
                let schema = json!({"$schema": draft, "format": format});
                assert_eq!(run(schema, "\"^{-( \\\\\"").state, ScoreState::Decided(0.0), "{format} in {draft}");
            }
        }
        let remote = json!({"$ref": "https://example.org/schema.json"});
        assert!(matches!(run(remote, "{}").state, ScoreState::Error(_)));
    }

    #[test]
    fn deep_answers_are_validated_or_refused_as_json() {
        let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        let schema = json!({"anyOf": [{"type": "number"}, {"properties": {"a": {"$ref": "#"}}, "required": ["a"]}]});
        assert_eq!(run(schema.clone(), &nested(120)).state, ScoreState::Decided(1.0));
        assert_eq!(run(schema, &nested(100_000)).state, ScoreState::Decided(0.0));
    }
}
