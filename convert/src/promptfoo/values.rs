//! Values and comments as promptfoo reads them, also values of YAML that JSON does not have.

use evalsuite_loader::document::{Data, Foreign, Value};

use super::template;
use crate::report::{Place, Report};

/// Comments without those that are for editors of promptfoo configurations.
pub(super) fn comments(lines: &[String]) -> Vec<String> {
    lines.iter().filter(|line| !line.trim_start().starts_with("yaml-language-server:")).cloned().collect()
}

/// The items of a list, or the only value that stands for one, with their places.
pub(super) fn elements<'v>(value: &'v Value, place: &Place) -> Vec<(&'v Value, Place)> {
    if value.items().is_some() { place.items(value).collect() } else { vec![(value, place.clone())] }
}

/// The texts between commas, where a text in double quotes may hold commas, and why promptfoo refuses them.
pub(super) fn comma_list(text: &str) -> (Vec<String>, Option<&'static str>) {
    let (mut texts, mut problem) = (Vec::new(), None);
    let is_between = |character: char| character == ',' || is_space(character);
    let mut rest = text.trim_start_matches(is_between);
    while !rest.is_empty() {
        let Some(quoted) = rest.strip_prefix('"') else {
            let (part, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
            texts.push(part.trim_matches(is_space).to_owned());
            rest = after.trim_start_matches(is_between);
            continue;
        };
        let (part, after) = quoted_part(quoted);
        texts.push(part);
        let after = after.unwrap_or_else(|| {
            problem = Some("a quote in its value is not closed");
            ""
        });
        let next = after.trim_start_matches(is_space);
        if !next.is_empty() && !next.starts_with(',') {
            problem = Some("a quoted part of its value is not followed by a comma");
        }
        rest = next.trim_start_matches(is_between);
    }
    (texts, problem)
}

/// What is between quotes, in which a quote is escaped or doubled, and what follows; nothing follows if the text ends before.
fn quoted_part(text: &str) -> (String, Option<&str>) {
    let mut part = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        let escaped = after.chars().next().filter(|next| match character {
            '\\' => matches!(next, '"' | '\\'),
            '"' => *next == '"',
            _ => false,
        });
        rest = match (escaped, character) {
            (Some(escaped), _) => {
                part.push(escaped);
                &after[1..]
            }
            (None, '"') => return (part, Some(after)),
            (None, other) => {
                part.push(other);
                after
            }
        };
    }
    (part, None)
}

/// White space of JavaScript.
pub(super) fn is_space(character: char) -> bool {
    character == '\u{feff}' || character != '\u{85}' && character.is_whitespace()
}

/// Replaces the dates of a configuration by the objects without entries that promptfoo makes of them.
pub(super) fn dates_to_objects(value: &mut Value, place: &Place, report: &mut Report) {
    replace(value, place, &mut |foreign, place| match foreign {
        Foreign::Date(_) => {
            report.approximated(place, "promptfoo takes a date without quotes for an object without entries");
            Some(Data::Mapping(Vec::new()))
        }
        Foreign::NotFinite(_) => None,
    });
}

/// Replaces the dates of any other file of tests or variables by their texts.
pub(super) fn dates_to_texts(value: &mut Value, place: &Place, report: &mut Report) {
    replace(value, place, &mut |foreign, place| date_to_text(foreign, place, report));
}

/// The same of a file that is the value of something at a place.
pub(super) fn dates_of_file_to_texts(value: &mut Value, place: &Place, report: &mut Report) {
    replace(value, place, &mut |foreign, _| date_to_text(foreign, place, report));
}

fn date_to_text(foreign: &Foreign, place: &Place, report: &mut Report) -> Option<Data> {
    let Foreign::Date(text) = foreign else { return None };
    report.different(place, format!("promptfoo takes `{text}` for a date, and not for text: quote it"));
    Some(Data::Text(text.clone()))
}

/// Replaces numbers that are not finite, in a variable, by their names.
pub(super) fn numbers_to_texts(value: &mut Value, place: &Place, report: &mut Report) {
    replace(value, place, &mut |foreign, place| {
        let text = javascript_text(&Value::new(Data::Foreign(foreign.clone())));
        report.different(place, format!("JSON has no such number: the variable is the text `{text}`"));
        Some(Data::Text(text))
    });
}

fn replace(value: &mut Value, place: &Place, by: &mut dyn FnMut(&Foreign, &Place) -> Option<Data>) {
    match &mut value.data {
        Data::Foreign(foreign) => {
            if let Some(data) = by(foreign, place) {
                value.data = data;
            }
        }
        Data::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let place = place.below(item.position.line, &format!("[{index}]"));
                replace(item, &place, by);
            }
        }
        Data::Mapping(entries) => {
            for (key, value) in entries {
                let place = place.below(value.position.line, key);
                replace(value, &place, by);
            }
        }
        _ => {}
    }
}

/// Whether a value has a date or a number that is not finite.
pub(super) fn is_in(value: &Value) -> bool {
    match &value.data {
        Data::Foreign(_) => true,
        Data::List(items) => items.iter().any(is_in),
        Data::Mapping(entries) => entries.iter().any(|(_, value)| is_in(value)),
        _ => false,
    }
}

/// The text that JavaScript makes of a value, as JSON if it has parts.
pub(super) fn javascript_text(value: &Value) -> String {
    match &value.data {
        Data::Foreign(Foreign::NotFinite(number)) => template::number_text(*number),
        _ => template::javascript_text(&value.to_json()),
    }
}

/// The text of `String(value)` in JavaScript.
pub(super) fn string(value: &Value) -> String {
    match &value.data {
        Data::Foreign(Foreign::NotFinite(number)) => template::number_text(*number),
        _ => template::string(&value.to_json()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_split_at_commas_outside_of_quotes() {
        for (text, parts) in [
            ("a, b ,c", vec!["a", "b", "c"]),
            ("\"a, b\" , c", vec!["a, b", "c"]),
            ("\"say \\\"x\\\"\",\"\"\"y\"\"\"", vec!["say \"x\"", "\"y\""]),
            (",, a,,\u{feff}b\u{85},", vec!["a", "b\u{85}"]),
            ("\"\"", vec![""]),
            ("a \"b, c\"", vec!["a \"b", "c\""]),
            ("", vec![]),
        ] {
            let (found, problem) = comma_list(text);
            assert_eq!((found, problem), (parts.into_iter().map(str::to_owned).collect(), None), "{text}");
        }
        for text in ["\"a", "a, \"b\\\"", "\"a\" b", "\"a\"b, c"] {
            assert!(comma_list(text).1.is_some(), "{text}");
        }
    }
}
