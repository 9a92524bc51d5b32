//! The graders that read JSON: `is-json`, `contains-json`, `json-schema`, and `transform` with a path.

use evalsuite_schema::json::{Value, json};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::compared::{Expected, answered, compare, for_each, graded, grader};
use crate::json_grammar::{Json, value, whole};

/// Values without parts.
const VALUES: [&str; 13] = [
    "1",
    "-0",
    "0.5",
    "1e5",
    "2E-3",
    "true",
    "false",
    "null",
    "\"a\"",
    "\"\"",
    "\"\u{e9}\\n\"",
    "\"\\u00e9\"",
    "\"{}\"",
];
/// Texts that are almost values.
const OTHERS: [&str; 15] = [
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "-",
    "NaN",
    "Infinity",
    "nul",
    "'a'",
    "\"a",
    "\"\\x\"",
    "\"\t\"",
    "\"\\u12\"",
    "True",
];

/// Texts of JSON, and almost of JSON.
pub(crate) fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => select(VALUES.to_vec()),
        1 => select(OTHERS.to_vec()),
    ];
    let blank = || select(vec!["", "", "", " ", "\n", "\t"]);
    leaf.prop_map(str::to_owned).prop_recursive(3, 12, 3, move |inner| {
        let comma = || select(vec![",", ",", ",", ",", ",", ", ", ",,", ""]);
        let end = |right: &'static str| select(vec![right, right, right, right, right, right, "", ",}"]);
        let key = select(vec!["\"a\"", "\"a\"", "\"b\"", "\"\\u0061\"", "a", "'a'", "1"]);
        let entry = (key, blank(), inner.clone()).prop_map(|(key, blank, value)| format!("{key}{blank}:{value}"));
        let joined = |parts: Vec<(String, &'static str)>, left: &str, right: &str| {
            let last = parts.len().wrapping_sub(1);
            let text: String = parts
                .into_iter()
                .enumerate()
                .map(|(index, (part, comma))| if index == last { part } else { part + comma })
                .collect();
            format!("{left}{text}{right}")
        };
        prop_oneof![
            (vec((inner, comma()), 0..3), end("]")).prop_map(move |(parts, right)| joined(parts, "[", right)),
            (vec((entry, comma()), 0..3), end("}")).prop_map(move |(parts, right)| joined(parts, "{", right)),
        ]
    })
}

/// Documents among other text, with something removed or added.
pub(crate) fn answers() -> impl Strategy<Value = String> {
    let around =
        || select(vec!["", "", "", " ", "\n", "so: ", "}", "{", "{x} ", "[", "```json\n", "\n```", "\"", "\\", "`{`"]);
    let change = select(vec!["", "}", "\"", "{", " ", "\n"]);
    let parts = vec((around(), document()), 1..3);
    (parts, around(), any::<prop::sample::Index>(), change, 0..6_u8).prop_map(|(parts, after, index, change, way)| {
        let mut text: String = parts.into_iter().map(|(before, document)| format!("{before}{document}")).collect();
        text.push_str(after);
        let mut letters: Vec<char> = text.chars().collect();
        if way == 0 && !letters.is_empty() {
            letters.remove(index.index(letters.len()));
        }
        if way == 1 {
            letters.truncate(index.index(letters.len() + 1));
        }
        if way == 2 {
            let at = index.index(letters.len() + 1);
            letters.splice(at..at, change.chars());
        }
        letters.into_iter().collect()
    })
}

/// The objects of a text, from left to right, without those that are inside another one. An empty pair of braces, or a brace that a key
/// and a colon follow, starts an object; what is inside of one that cannot be read is none. Other braces are text.
fn objects(text: &str) -> Vec<Json> {
    let text: Vec<char> = text.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        if text[at] != '{' || !starts(&text, at + 1) {
            at += 1;
            continue;
        }
        at = match value(&text, at) {
            Some((object, end)) if object.is_finite() => {
                found.push(object);
                end
            }
            _ => closed(&text, at),
        };
    }
    found
}

/// Whether `}`, or a key and a colon, are next.
fn starts(text: &[char], at: usize) -> bool {
    let mut rest = text[at..].iter().skip_while(|letter| " \t\n\r".contains(**letter));
    match rest.next() {
        Some('}') => true,
        Some('"') => {
            let mut before = ' ';
            for letter in rest.by_ref() {
                if *letter == '"' && before != '\\' {
                    break;
                }
                // An escaped backslash escapes nothing.
                before = if *letter == '\\' && before == '\\' { ' ' } else { *letter };
            }
            rest.find(|letter| !" \t\n\r".contains(**letter)) == Some(&':')
        }
        _ => false,
    }
}

/// The place after the brace that closes the one at `at`, but for braces in strings; the end if there is none.
fn closed(text: &[char], at: usize) -> usize {
    let (mut open, mut is_string, mut at) = (0, false, at);
    while at < text.len() {
        match text[at] {
            '\\' if is_string => at += 1,
            '"' => is_string = !is_string,
            '{' if !is_string => open += 1,
            '}' if !is_string => open -= 1,
            _ => {}
        }
        at += 1;
        if open == 0 {
            break;
        }
    }
    at.min(text.len())
}

/// Whether every program reads the same value.
fn has_a_value(value: &Json) -> bool {
    value.is_finite() && !value.repeats_a_key()
}

/// Whether a value conforms to [`schema`].
fn conforms(value: &Json) -> bool {
    matches!(value.get("a"), Some(Json::Text(_) | Json::List(_)))
}

fn schema() -> Value {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": ["string", "array"]}}});
    json!({"file": {"written": "s.json", "path": "s.json"}, "schema": schema})
}

#[test]
fn json_is_what_the_grammar_says() {
    for_each("is-json", answers(), |answer| {
        let expected = Expected::passed(whole(answer).is_some());
        compare(&graded(&grader(json!("is-json")), answered(answer)), &expected)
    });
}

#[test]
fn objects_in_text_are_complete() {
    for_each("contains-json", answers(), |answer| {
        let found = objects(answer);
        let plain = graded(&grader(json!({"contains-json": {}})), answered(answer));
        compare(&plain, &Expected::passed(!found.is_empty()))?;
        let with_schema = graded(&grader(json!({"contains-json": {"schema": schema()}})), answered(answer));
        let is_one = |object: &Json| !object.repeats_a_key() && conforms(object);
        compare(&with_schema, &Expected::passed(found.iter().any(is_one))).map_err(|error| format!("schema: {error}"))
    });
}

#[test]
fn a_schema_is_compared_with_all_of_the_answer() {
    for_each("json-schema", answers(), |answer| {
        let lines: Vec<&str> = answer.split('\n').filter(|line| !line.trim_start().starts_with("```")).collect();
        let expected =
            Expected::passed(whole(&lines.join("\n")).filter(has_a_value).is_some_and(|value| conforms(&value)));
        compare(&graded(&grader(json!({"json-schema": schema()})), answered(answer)), &expected)
    });
}

/// The value at a path of keys and indices.
fn at(value: Json, path: &str) -> Option<Json> {
    path.split('.').filter(|_| !path.is_empty()).try_fold(value, |value, step| match value {
        Json::List(values) => {
            values.into_iter().enumerate().find(|(index, _)| index.to_string() == step).map(|(_, v)| v)
        }
        object @ Json::Object(_) => object.get(step).cloned(),
        _ => None,
    })
}

#[test]
fn a_transform_takes_the_value_at_a_path() {
    let inputs = (answers(), select(vec!["", "a", "b", "a.a", "a.0", "0", "1", "b.1.a"]), any::<bool>());
    for_each("transform", inputs, |(answer, path, negate)| {
        let mut grader = grader(json!({"equals": {"value": "a"}}));
        grader.transform = vec![evalsuite_schema::json::from_value(json!({"json": path})).expect("a step")];
        grader.negate = *negate;
        let found = whole(answer)
            .filter(has_a_value)
            .and_then(|value| at(value, path))
            .filter(|value| *value != Json::Word("null"));
        // An answer without such a value fails, also if the result is inverted.
        let passes = found.is_some_and(|found| (found == Json::Text("a".to_owned())) != *negate);
        compare(&graded(&grader, answered(answer)), &Expected::passed(passes))
    });
}
