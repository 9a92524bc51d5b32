//! Values in the texts of assertions: shortened, and with control characters escaped.

use crate::platform::excerpt::{escaped, middle_out};

/// Characters of a value shown as expected or actual.
const SHOWN: usize = 200;
/// Characters of a value that is part of an assertion's text.
const SHOWN_IN_TEXT: usize = 10_000;

/// Joins emoji to one: without it, the text of an author would be shown as another.
const JOINER: char = '\u{200d}';

/// A value as assertions show what was expected and what was found: its beginning and its end, on one line.
pub(crate) fn shorten(text: &str) -> String {
    escaped(&middle_out(text, SHOWN), &[JOINER])
}

/// A value within the text of an assertion, where line breaks and tabs stay.
pub(crate) fn in_text(text: &str) -> String {
    escaped(&middle_out(text, SHOWN_IN_TEXT), &['\n', '\r', '\t', JOINER])
}
