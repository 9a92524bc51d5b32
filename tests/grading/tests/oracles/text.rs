//! The graders that look for texts, character by character.

use evalsuite_schema::json::json;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::compared::{Expected, answered, compare, for_each, graded, grader};

/// A type of grader, its texts, and the answer.
#[derive(Debug, Clone)]
struct Input {
    kind: &'static str,
    values: Vec<String>,
    answer: String,
}

/// Letters whose cases and forms differ in length, and white space of several kinds.
const LETTERS: [char; 17] = [
    'a', 'b', 'A', 'B', 'σ', 'ς', 'Σ', 'İ', 'i', '\u{307}', 'ß', '\u{212a}', ' ', '\n', '\u{a0}', '\u{feff}', '\u{85}',
];

fn inputs() -> impl Strategy<Value = Input> {
    let kinds = [
        "contains",
        "contains-any",
        "contains-all",
        "icontains",
        "icontains-any",
        "icontains-all",
        "starts-with",
        "ends-with",
        "equals",
    ];
    let text = |least, most| vec(select(LETTERS.to_vec()), least..=most).prop_map(String::from_iter);
    (select(kinds.to_vec()), vec(text(1, 3), 1..4), text(0, 8), 0..4_u8, any::<bool>()).prop_map(
        |(kind, mut values, answer, way, upper)| {
            // A text of white space alone is refused by the build where the grader trims.
            if matches!(kind, "starts-with" | "ends-with" | "equals") && trimmed(&values[0]).is_empty() {
                values[0].push('a');
            }
            let said = if upper { values[0].to_uppercase() } else { values[0].clone() };
            let answer = match way {
                0 => answer,
                1 => format!("{answer}{said}"),
                2 => format!("{said}{answer}"),
                _ => said,
            };
            Input { kind, values, answer }
        },
    )
}

/// A text without white space around it: tab, line ends, byte order mark and the space separators of Unicode.
pub(crate) fn trimmed(text: &str) -> Vec<char> {
    let is_blank = |character: &char| {
        let code = *character as u32;
        [0x9, 0xa, 0xb, 0xc, 0xd, 0x20, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff].contains(&code)
            || (0x2000..=0x200a).contains(&code)
    };
    let mut text: Vec<char> = text.chars().collect();
    while text.last().is_some_and(is_blank) {
        text.pop();
    }
    while text.first().is_some_and(is_blank) {
        text.remove(0);
    }
    text
}

fn is_at(text: &[char], start: usize, part: &[char]) -> bool {
    for (offset, character) in part.iter().enumerate() {
        if text.get(start + offset) != Some(character) {
            return false;
        }
    }
    true
}

fn has(text: &[char], part: &[char]) -> bool {
    (0..=text.len()).any(|start| is_at(text, start, part))
}

/// Every character in lower case; the two small sigmas are one letter.
fn folded(text: &str) -> Vec<char> {
    let mut folded = Vec::new();
    for character in text.chars() {
        folded.extend(character.to_lowercase().map(|lower| if lower == 'ς' { 'σ' } else { lower }));
    }
    folded
}

fn passes(input: &Input) -> bool {
    let plain = |text: &str| text.chars().collect::<Vec<char>>();
    let read = if input.kind.starts_with('i') { folded } else { plain };
    // What is the text but for white space around it contains it, too.
    let bare = |text: &str| trimmed(&String::from_iter(read(text)));
    let is_same = |value: &str| bare(&input.answer) == bare(value) && !bare(value).is_empty();
    let found = |value: &String| has(&read(&input.answer), &read(value)) || is_same(value);
    let (answer, first) = (trimmed(&input.answer), trimmed(&input.values[0]));
    match input.kind.trim_start_matches('i') {
        "contains" => found(&input.values[0]),
        "contains-any" => input.values.iter().any(found),
        "contains-all" => input.values.iter().all(found),
        "starts-with" => is_at(&answer, 0, &first),
        "ends-with" => answer.len() >= first.len() && is_at(&answer, answer.len() - first.len(), &first),
        _ => answer.len() == first.len() && is_at(&answer, 0, &first),
    }
}

#[test]
fn texts_are_found_character_by_character() {
    for_each("texts", inputs(), |input| {
        let value = if input.kind.contains('-') && input.kind.contains("contains") {
            json!(input.values)
        } else {
            json!(input.values[0])
        };
        let grader = grader(json!({input.kind: {"value": value}}));
        compare(&graded(&grader, answered(&input.answer)), &Expected::passed(passes(input)))
    });
}

#[test]
fn a_text_that_is_equal_satisfies_every_other_grader_of_texts() {
    for_each("texts, equal ones", inputs(), |input| {
        let value = &input.values[0];
        let passes =
            |config| graded(&grader(config), answered(&input.answer)).verdict.is_some_and(|verdict| verdict.is_pass());
        if trimmed(value).is_empty() || !passes(json!({"equals": {"value": value}})) {
            return Ok(());
        }
        for kind in ["contains", "icontains", "starts-with", "ends-with", "similar"] {
            if !passes(json!({kind: {"value": value}})) {
                return Err(format!("{:?} equals {value:?}, but does not pass `{kind}`", input.answer));
            }
        }
        for kind in ["contains-any", "contains-all", "icontains-any", "icontains-all"] {
            if !passes(json!({kind: {"value": [value]}})) {
                return Err(format!("{:?} equals {value:?}, but does not pass `{kind}`", input.answer));
            }
        }
        Ok(())
    });
}

#[test]
fn what_contains_a_text_contains_it_whatever_the_case() {
    for_each("texts, cases", inputs(), |input| {
        let value = &input.values[0];
        let passes = |kind: &str| {
            let grader = grader(json!({kind: {"value": value}}));
            graded(&grader, answered(&input.answer)).verdict.is_some_and(|verdict| verdict.is_pass())
        };
        if passes("contains") && !passes("icontains") {
            return Err(format!("{:?} contains {value:?}, but not if case is ignored", input.answer));
        }
        Ok(())
    });
}
