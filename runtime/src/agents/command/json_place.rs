//! Where a text is not valid JSON, with the text around the place.

use crate::platform::excerpt::escaped;
use crate::platform::redaction::all_secrets;

/// Bytes of a line that are shown before and after a place.
const SHOWN: usize = 60;

/// What is wrong with a JSON text, and the byte at which it is.
#[derive(Debug)]
pub(crate) struct JsonFault {
    pub(crate) fact: String,
    pub(crate) at: usize,
}

impl JsonFault {
    /// The error of a reader that started at byte `start` of the text. Its message ends with a line and a column, in bytes.
    pub(crate) fn of(error: &serde_json::Error, text: &str, start: usize) -> Self {
        let message = error.to_string();
        let read = || {
            let (fact, place) = message.rsplit_once(" at line ")?;
            let (line, column) = place.split_once(" column ")?;
            let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
            let before: usize = text[start..].split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
            Some(Self { fact: fact.to_owned(), at: boundary(text, (start + before + column).saturating_sub(1)) })
        };
        read().unwrap_or(Self { fact: message.clone(), at: start })
    }

    /// The fault with its line and column, and the line with a mark below the place.
    pub(crate) fn shown_in(&self, text: &str) -> String {
        shown(text, self.at, &self.fact)
    }
}

/// A fact about a place in a text: line and column from 1, and the line with a mark below the place.
pub(crate) fn shown(text: &str, at: usize, fact: &str) -> String {
    let at = boundary(text, at);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let (line, column) = (1 + text[..start].matches('\n').count(), 1 + text[start..at].chars().count());
    let secrets = all_secrets();
    let first = boundary(text, at.saturating_sub(SHOWN)).max(start);
    let last = boundary(text, at.saturating_add(SHOWN)).min(end);
    // Never a part of a secret.
    let first = if first > start { secrets.position_after(text, first).min(at) } else { first };
    let last = if last < end { secrets.position_before(text, last).max(at) } else { last };
    let before = format!("{}{}", if first > start { "…" } else { "" }, escaped(&text[first..at], &[]));
    let after = format!("{}{}", escaped(text[at..last].trim_end(), &[]), if last < end { "…" } else { "" });
    let mark = " ".repeat(before.chars().count());
    format!("line {line}, column {column}: {fact}\n  | {before}{after}\n  | {mark}^")
}

/// The nearest place before that does not split a character.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Value;
    use evalsuite_schema::json::Reader;

    use super::*;

    fn fault(text: &str, start: usize) -> String {
        let error = Reader::new(&text[start..]).value::<Value>().unwrap_err();
        JsonFault::of(&error, text, start).shown_in(text)
    }

    #[test]
    fn a_fault_is_shown_where_it_is() {
        let nan = fault("{\"a\": NaN}", 0);
        assert_eq!(nan, "line 1, column 7: expected value\n  | {\"a\": NaN}\n  |       ^");
        let comma = fault("log\n{\n\"ä\": 1,}", 4);
        assert_eq!(comma, "line 3, column 8: trailing comma\n  | \"ä\": 1,}\n  |        ^");
        let cut = fault("{\"text\": \"do", 0);
        assert!(cut.starts_with("line 1, column 12: EOF while parsing a string\n"), "{cut}");
        let long = fault(&format!("{{\"a\": \"{}\", \"b\": nan, \"c\": \"{}\"}}", "x".repeat(200), "y".repeat(200)), 0);
        assert!(long.contains("  | …xx") && long.ends_with('^') && long.contains("nan, \"c\": \"yyy"), "{long}");
    }
}
