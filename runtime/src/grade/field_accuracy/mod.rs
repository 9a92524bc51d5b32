//! The `field-accuracy` grader: compares fields of the answer with those of the reference.

mod decimal;

use evalsuite_records::record::Assertion;
use evalsuite_schema::Value;
use evalsuite_schema::calendar_date::Date;
use evalsuite_schema::decimal::shown_against;
use evalsuite_schema::grader::{
    DateFormat, Field, FieldAccuracy, FieldAggregation, FieldMatch, date, decimal_text, expected_document,
};
use evalsuite_schema::json::from_str_with_unique_keys;

use self::decimal::Decimal;
use crate::grade::assertion_text::{fixed, shorten, show};
use crate::grade::grader_record::GraderResult;
use crate::grade::scoring::weighted_mean;
use crate::model::evidence::Evidence;
use crate::model::messages::outer_object;
use crate::model::score::Score;

pub(crate) fn grade(config: &FieldAccuracy, evidence: &Evidence<'_>) -> Result<GraderResult, String> {
    let expected = expected_document(&evidence.facts().reference())
        .ok_or("the reference of the case has no object to compare with")?;
    for field in &config.fields {
        if let Some(value) = FieldAccuracy::find(&expected, &field.path)
            && let Some(what) = field.unmet(value)
        {
            let (path, value) = (&field.path, shorten(&value.to_string()));
            return Err(format!("`{path}` of the reference is not {what}: {value}"));
        }
    }
    let candidate = match document(evidence.answer()) {
        Ok(candidate) => candidate,
        Err(error) => {
            let assertion = Assertion::new("Failed to parse candidate answer as JSON", false)
                .with_actual(shorten(evidence.answer()))
                .with_evidence(error.to_string());
            return Ok(GraderResult::without_evidence([assertion]));
        }
    };
    let mut hits = Vec::new();
    let mut assertions = Vec::new();
    for field in &config.fields {
        let (hit, assertion) = compare(field, &candidate, &expected);
        hits.extend(hit.map(|hit| (field.weight, if hit { 1.0 } else { 0.0 })));
        assertions.push(assertion);
    }
    let score = match config.aggregation {
        _ if hits.is_empty() => Score::undecided("no field could be compared"),
        FieldAggregation::AllOrNothing => Score::from(hits.iter().all(|(_, hit)| *hit > 0.0)),
        FieldAggregation::WeightedAverage => weighted_mean(hits.into_iter())
            .map_or_else(|| Score::undecided("the weights of all compared fields are 0"), Score::new),
    };
    Ok(Score { assertions, ..score }.into())
}

/// The JSON object in a text, or the whole text if it has no braces. Code fences are removed only if the text cannot be read with
/// them, because they may be part of a value.
fn document(text: &str) -> serde_json::Result<Value> {
    from_str_with_unique_keys(outer_object(text)).or_else(|_| {
        let plain = text.replace("```json\n", "").replace("```json", "").replace("```", "");
        from_str_with_unique_keys(outer_object(&plain))
    })
}

/// Whether the field is correct, `None` if it is not counted; and the assertion about it.
fn compare(field: &Field, candidate: &Value, expected: &Value) -> (Option<bool>, Assertion) {
    let path = &field.path;
    let Some(expected) = FieldAccuracy::find(expected, path) else {
        return (None, Assertion::new(format!("{path}: no expected value"), true));
    };
    let Some(actual) = FieldAccuracy::find(candidate, path) else {
        let wanted = shorten(&expected.to_string());
        return if field.required {
            let assertion = Assertion::new(format!("{path} (required, missing)"), false);
            (Some(false), assertion.with_expected(wanted).with_actual("no such field"))
        } else {
            (None, Assertion::new(format!("{path}: optional field missing"), true).with_expected(wanted))
        };
    };
    let (hit, note) = match &field.matching {
        FieldMatch::Exact => exact(actual, expected),
        FieldMatch::NumericTolerance { tolerance, relative } => numeric(actual, expected, *tolerance, *relative),
        FieldMatch::Date { formats } => dates(actual, expected, formats),
    };
    let text = if note.is_empty() { path.clone() } else { format!("{path} ({note})") };
    let assertion = Assertion::new(text, hit)
        .with_expected(shorten(&expected.to_string()))
        .with_actual(shorten(&actual.to_string()));
    (Some(hit), assertion)
}

fn exact(actual: &Value, expected: &Value) -> (bool, String) {
    if actual.is_same(expected) {
        return (true, String::new());
    }
    let (got, wanted) = (kind(actual), kind(expected));
    if got == wanted {
        return (false, "value mismatch".to_owned());
    }
    (false, format!("type mismatch: got {got}, expected {wanted}"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Null | Value::Array(_) | Value::Object(_) => "object",
    }
}

fn numeric(actual: &Value, expected: &Value, tolerance: f64, relative: bool) -> (bool, String) {
    let (Some(actual), Some(expected)) = (number(actual), number(expected)) else {
        return (false, "non-numeric value".to_owned());
    };
    let relative = relative && !expected.is_zero();
    let difference = actual.distance(&expected);
    let allowed = Decimal::shortest(tolerance);
    let allowed = if relative { allowed.size_of_product(&expected) } else { allowed };
    let (held, difference) = (difference.size_order(&allowed).is_le(), difference.nearest());
    let shown = fixed(difference, 2);
    if held {
        return (true, format!("within tolerance: diff={shown}"));
    }
    let looks_within = shown.parse().is_ok_and(|shown: f64| shown <= tolerance);
    let (shown, of) = match (looks_within, relative) {
        (false, _) => (shown, String::new()),
        (true, false) => (shown_against(difference, tolerance), String::new()),
        (true, true) => (show(difference), format!(" of {}", show(expected.nearest().abs()))),
    };
    (false, format!("outside tolerance: diff={shown}, tolerance={}{of}", show(tolerance)))
}

/// A number, or a text that is a decimal number.
fn number(value: &Value) -> Option<Decimal> {
    Decimal::parse(&decimal_text(value)?)
}

fn dates(actual: &Value, expected: &Value, formats: &[DateFormat]) -> (bool, String) {
    let Some(actual) = date(actual, formats) else { return (false, "unparseable candidate date".to_owned()) };
    let Some(expected) = date(expected, formats) else { return (false, "unparseable expected date".to_owned()) };
    if actual == expected {
        return (true, String::new());
    }
    let show = |Date { year, month, day }: Date| format!("{year:04}-{month:02}-{day:02}");
    (false, format!("date mismatch: got {}, expected {}", show(actual), show(expected)))
}

/// What the graders of this file are to probes.
#[cfg(feature = "probe")]
pub(crate) mod to_probes {
    use evalsuite_schema::{Grader, GraderConfig};

    use super::*;
    use crate::grade::probed::{Passing, Probed};

    pub(crate) fn probed(config: &GraderConfig) -> Option<&dyn Probed> {
        if let GraderConfig::FieldAccuracy(config) = config { Some(config) } else { None }
    }

    impl Probed for FieldAccuracy {
        fn wants_document(&self) -> bool {
            true
        }

        fn advice(&self, _grader: &Grader, _passing: &Passing<'_>) -> Option<String> {
            let all_optional = self.fields.iter().all(|field| !field.required);
            all_optional
                .then(|| "no field is required: without `required: false`, a missing field is a miss".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;
    use evalsuite_schema::{Content, Message, Role};

    use super::*;
    use crate::model::evidence::Facts;
    use crate::model::score::ScoreState;

    fn run(fields: Value, expected: Value, answer: &str) -> (ScoreState, Vec<String>) {
        let config: FieldAccuracy = evalsuite_schema::json::from_value(fields).unwrap();
        let evidence = Evidence::new(Facts {
            answer: answer.into(),
            expected_output: vec![Message::new(Role::Assistant, Content::Data(expected))],
            ..Facts::default()
        });
        let score = grade(&config, &evidence).unwrap();
        (score.score.state, score.score.assertions.into_iter().map(|assertion| assertion.text).collect())
    }

    fn field(path: &str, matching: Value) -> Value {
        json!({"path": path, "match": matching, "required": true, "weight": 1.0})
    }

    #[test]
    fn fields_are_found_in_a_fenced_answer() {
        let fields = json!({"fields": [field("items[0].name", json!("exact")), field("total", json!("exact"))]});
        let expected = json!({"items": [{"name": "x"}], "total": 2});
        let answer = "Here:\n```json\n{\"items\": [{\"name\": \"x\"}], \"total\": 2.0}\n```\nDone.";
        assert_eq!(run(fields.clone(), expected.clone(), answer).0, ScoreState::Decided(1.0));
        for answer in [answer.replace('\n', " "), answer.replace('\n', "\r\n"), answer.replace("json", "")] {
            assert_eq!(run(fields.clone(), expected.clone(), &answer).0, ScoreState::Decided(1.0), "{answer}");
        }
        let (state, texts) = run(fields, expected, r#"{"items": [], "total": "2"}"#);
        assert_eq!(state, ScoreState::Decided(0.0));
        assert_eq!(texts, ["items[0].name (required, missing)", "total (type mismatch: got string, expected number)"]);
    }

    #[test]
    fn a_reference_that_cannot_be_compared_is_not_a_fault_of_the_answer() {
        let error = |matching: Value, expected: Value, answer: &str| {
            let config = json!({"fields": [field("v", matching)]});
            let config: FieldAccuracy = evalsuite_schema::json::from_value(config).unwrap();
            let evidence = Evidence::new(Facts {
                answer: answer.into(),
                expected_output: vec![Message::new(Role::Assistant, Content::Data(json!({"v": expected})))],
                ..Facts::default()
            });
            grade(&config, &evidence).err().map(|error| error.to_string())
        };
        let date = || json!({"date": {"formats": []}});
        let number = || json!({"numeric_tolerance": {"tolerance": 1.0, "relative": false}});
        let message = |what| Some(format!("`v` of the reference is not {what}: \"soon\""));
        for answer in [r#"{"v": "2025-01-31"}"#, r#"{"v": "soon"}"#, "{}", "none"] {
            assert_eq!(error(date(), json!("soon"), answer), message("a date"), "{answer}");
            assert_eq!(error(number(), json!("soon"), answer), message("a number"), "{answer}");
        }
        assert_eq!(
            error(date(), json!("2025-02-29"), "{}").unwrap(),
            "`v` of the reference is not a date: \"2025-02-29\""
        );
        assert_eq!(error(date(), json!("2025-01-31"), r#"{"v": "soon"}"#), None);
        assert_eq!(error(number(), json!("1"), r#"{"v": "soon"}"#), None);
    }

    #[test]
    fn numbers_may_differ_a_little() {
        let hit = |tolerance: f64, relative: bool, expected: Value, actual: &str| {
            let matching = json!({"numeric_tolerance": {"tolerance": tolerance, "relative": relative}});
            let answer = format!("{{\"v\": {actual}}}");
            run(json!({"fields": [field("v", matching)]}), json!({"v": expected}), &answer).0
                == ScoreState::Decided(1.0)
        };
        assert!(hit(1.0, false, json!(10), "11") && !hit(1.0, false, json!(10), "11.01"));
        assert!(hit(0.1, true, json!(200), "\" 219.5 \"") && !hit(0.1, true, json!(200), "221"));
        assert!(hit(0.1, true, json!(0), "0.1"));
        // As decimals, not as binary numbers.
        assert!(hit(0.01, false, json!(19.90), "19.91") && hit(0.1, false, json!(1.1), "1.0"));
        assert!(hit(0.01, false, json!("19.90"), "\"19.91\"") && !hit(0.01, false, json!("19.90"), "\"19.911\""));
        assert!(hit(0.1, true, json!(0.3), "0.33") && !hit(0.1, true, json!(0.3), "0.3301"));
        assert!(!hit(0.0, false, json!(9_007_199_254_740_993_u64), "9007199254740992"));
        let nines = "9".repeat(40);
        for (expected, actual) in
            [(&*nines, &*nines.replace("99", "98")), (&format!("0.{nines}"), &format!("0.{nines}1"))]
        {
            let same = format!("\"{expected}\"");
            assert!(hit(0.0, false, json!(expected), &same) && hit(0.0, true, json!(expected), &same), "{expected}");
            let other = format!("\"{actual}\"");
            assert!(
                !hit(0.0, false, json!(expected), &other) && !hit(0.0, true, json!(expected), &other),
                "{expected}"
            );
            assert!(!hit(1e-42, false, json!(expected), &other) && hit(1e39, false, json!(expected), &other));
        }
        assert!(hit(0.0, false, json!(1e300), "1e300") && !hit(1e300, false, json!(1e300), "-1e-300"));
        assert!(hit(0.1, false, json!(1_000_000.1), "1000000.2") && hit(1e300, false, json!(1e300), "1"));
        assert!(!hit(9.0, false, json!(10), "\"$10\"") && !hit(9.0, false, json!(1), "\"Infinity\""));
    }

    #[test]
    fn a_printed_difference_agrees_with_its_sentence() {
        let text = |tolerance: f64, relative: bool, expected: f64, actual: f64| {
            let matching = json!({"numeric_tolerance": {"tolerance": tolerance, "relative": relative}});
            run(json!({"fields": [field("v", matching)]}), json!({"v": expected}), &json!({"v": actual}).to_string())
                .1
                .concat()
        };
        assert_eq!(text(0.01, false, 19.90, 19.911), "v (outside tolerance: diff=0.011, tolerance=0.01)");
        assert_eq!(text(0.01, false, 19.90, 19.91), "v (within tolerance: diff=0.01)");
        assert_eq!(text(0.5, false, 1.0, 3.0), "v (outside tolerance: diff=2.00, tolerance=0.5)");
        assert_eq!(text(0.05, true, 0.1, 0.11), "v (outside tolerance: diff=0.01, tolerance=0.05 of 0.1)");
    }

    #[test]
    fn what_cannot_be_compared_is_left_out() {
        let optional = json!({"path": "b", "match": "exact", "required": false, "weight": 1.0});
        let fields = json!({"fields": [field("a", json!("exact")), optional, field("gone", json!("exact"))]});
        assert_eq!(run(fields, json!({"a": 1, "b": 2}), r#"{"a": 1}"#).0, ScoreState::Decided(1.0));
        let none = run(json!({"fields": [field("gone", json!("exact"))]}), json!({}), "{}").0;
        assert!(matches!(none, ScoreState::Undecided(_)));
    }

    #[test]
    fn one_miss_can_be_too_much() {
        let fields = json!({"fields": [field("a", json!("exact")), field("b", json!("exact"))], "aggregation": "all_or_nothing"});
        assert_eq!(run(fields.clone(), json!({"a": 1, "b": 2}), r#"{"a": 1, "b": 3}"#).0, ScoreState::Decided(0.0));
        assert_eq!(run(fields, json!({"a": 1, "b": 2}), r#"{"a": 1, "b": 2}"#).0, ScoreState::Decided(1.0));
    }

    #[test]
    fn an_answer_that_is_no_json_scores_0() {
        let fields = json!({"fields": [field("a", json!("exact"))]});
        for answer in ["", "none", "{\"a\": 1} and {\"a\": 2}", "{a: 1}", "{\"a\": 2, \"a\": 1}"] {
            assert_eq!(run(fields.clone(), json!({"a": 1}), answer).0, ScoreState::Decided(0.0), "{answer}");
        }
    }
}
