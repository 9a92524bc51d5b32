//! Values and comments as promptfoo reads them.

use evalsuite_loader::document::Value;

use crate::report::Place;

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
