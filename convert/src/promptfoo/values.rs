//! Values and comments as promptfoo reads them.

use std::sync::LazyLock;

use evalsuite_loader::document::Value;
use fancy_regex::{Captures, Regex};

use crate::report::Place;

/// Comments without those that are for editors of promptfoo configurations.
pub(super) fn comments(lines: &[String]) -> Vec<String> {
    lines.iter().filter(|line| !line.trim_start().starts_with("yaml-language-server:")).cloned().collect()
}

/// The items of a list, or the only value that stands for one, with their places.
pub(super) fn elements<'v>(value: &'v Value, place: &Place) -> Vec<(&'v Value, Place)> {
    if value.items().is_some() { place.items(value).collect() } else { vec![(value, place.clone())] }
}

/// A part of a list: what is between two quotes, in which a quote is escaped or doubled, or what is before the next comma.
static PART: LazyLock<Regex> = LazyLock::new(|| pattern(r#""((?:\\["\\]|""|[^"])*)"?|[^\s,"][^,]*"#));

/// A character between quotes with what escapes it.
static ESCAPED: LazyLock<Regex> = LazyLock::new(|| pattern(r#"["\\](["\\])"#));

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

/// The texts between commas; a text in double quotes may hold commas.
pub(super) fn comma_list(text: &str) -> Vec<String> {
    let parts = PART.captures_iter(text).flatten();
    let text = |part: Captures<'_, str>| match part.get(1) {
        Some(quoted) => ESCAPED.replace_all(quoted.as_str(), "$1").into_owned(),
        None => part[0].trim().to_owned(),
    };
    parts.map(text).collect()
}
