//! Excerpts of long texts and of errors, and texts that are safe to print. An excerpt never ends within a secret, because a partial
//! secret could not be recognized and redacted later.

use std::borrow::Cow;
use std::error::Error;

use evalsuite_schema::diagnostics::terminal::is_unprintable;
pub(crate) use evalsuite_schema::grader::trim;
use evalsuite_schema::json::writer::is_plain;

use crate::platform::errors::chain;
use crate::platform::redaction::all_secrets;

/// Characters kept of an error or a panic: a record with more can be too large to be read.
pub(crate) const LONGEST: usize = 16 * 1024;

/// The longest beginning that is at most `limit` bytes long.
pub(crate) fn first_bytes(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..all_secrets().position_before(text, end)]
}

/// The first `limit` characters, with `…` for the rest.
pub(crate) fn first_chars(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..all_secrets().position_before(text, end)]),
        None => text.to_owned(),
    }
}

/// The last `limit` characters, with `…` for the rest.
pub(crate) fn last_chars(text: &str, limit: usize) -> String {
    match text.char_indices().rev().nth(limit.saturating_sub(1)) {
        Some((start, _)) if start > 0 => format!("…{}", &text[all_secrets().position_after(text, start)..]),
        _ => text.to_owned(),
    }
}

/// The text if it has at most `limit` characters, else its beginning and its end with `…` between them.
pub(crate) fn middle_out(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit || text.char_indices().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    // The beginning usually matters more than the end.
    let tail = limit / 3;
    let head = limit.saturating_sub(tail + 1);
    let end = text.char_indices().nth(head).map_or(text.len(), |(end, _)| end);
    let start = text.char_indices().rev().nth(tail.saturating_sub(1)).map_or(text.len(), |(start, _)| start);
    let secrets = all_secrets();
    let (end, start) = (secrets.position_before(text, end), secrets.position_after(text, start));
    Cow::Owned(format!("{}…{}", &text[..end], &text[start..]))
}

/// The texts of an error and its sources, each once; of a long text, the beginning and the end.
pub(crate) fn chain_text(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for message in chain(error).map(ToString::to_string) {
        if !text.contains(&message) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&message);
        }
    }
    middle_out(&text, LONGEST).into_owned()
}

/// The text with every character that is invisible or changes how others are shown written as an escape of Rust's
/// literals, except those in `kept`.
pub(crate) fn escaped(text: &str, kept: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
        let (plain, rest) = if is_plain(content) { (content, end) } else { ("", line) };
        escaped.push_str(plain);
        for character in rest.chars() {
            if is_unprintable(character) && !kept.contains(&character) {
                escaped.extend(character.escape_default());
            } else {
                escaped.push(character);
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_in_the_middle() {
        assert_eq!(middle_out("0123456789", 10), "0123456789");
        assert_eq!(middle_out("0123456789ä", 10), "012345…89ä");
        assert_eq!(middle_out("ääää", 4), "ääää");
    }

    #[test]
    fn what_does_not_show_itself_is_escaped() {
        assert_eq!(escaped("a\n\u{1b}[31mß\u{202e}\0", &[]), "a\\n\\u{1b}[31mß\\u{202e}\\u{0}");
        assert_eq!(escaped("a\n\r", &['\n']), "a\n\\r");
    }

    #[test]
    fn characters_are_never_split() {
        assert_eq!(first_bytes("aä", 2), "a");
        assert_eq!(first_bytes("aä", 3), "aä");
        assert_eq!(first_chars("äbc", 2), "äb…");
        assert_eq!(first_chars("äb", 2), "äb");
        assert_eq!(last_chars("äbc", 2), "…bc");
        assert_eq!(last_chars("abc", 3), "abc");
    }
}
