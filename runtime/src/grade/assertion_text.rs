//! Values in the texts of assertions: shortened, with control characters escaped, and numbers formatted as JavaScript formats them, because
//! the vectors contain these texts.
//!
//! Hand-written: ryu-js formats the shortest form only, and `fixed` has to round ties up as `toFixed` does.

use evalsuite_schema::decimal::{at_most, shown_from};

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

/// The shortest decimal form of the number, with an exponent if it is very large or very small.
pub(crate) fn show(value: f64) -> String {
    let size = value.abs();
    if size.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if size >= 1e21 || size > 0.0 && size < 1e-6 {
        let text = format!("{value:e}");
        return if text.contains("e-") { text } else { text.replace('e', "e+") };
    }
    value.to_string()
}

/// The number with this many decimals, unless it is very large; a tie is rounded up.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if value.abs() >= 1e21 {
        return show(value);
    }
    // A tie ends in a single 5 after the wanted decimals, and has an exact decimal form.
    let exact = format!("{value:.40}");
    let is_tie = exact
        .split_once('.')
        .and_then(|(_, digits)| digits.get(decimals..))
        .is_some_and(|rest| rest.trim_end_matches('0') == "5");
    let value = if is_tie && value > 0.0 { value.next_up() } else { value };
    format!("{value:.decimals$}")
}

/// A number and its limit with this many decimals, or with as many as it takes if the number would not look larger although it is.
pub(crate) fn both_fixed(value: f64, limit: f64, decimals: usize) -> (String, String) {
    let both = (fixed(value, decimals), fixed(limit, decimals));
    if both.0 == both.1 && !at_most(value, limit) { (shown_from(decimals, value, limit), show(limit)) } else { both }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_in_the_vectors() {
        assert_eq!([fixed(f64::INFINITY, 2), show(-f64::INFINITY)], ["Infinity", "-Infinity"]);
        assert_eq!([show(100.0), show(12.75), show(1e21), show(1e-7)], ["100", "12.75", "1e+21", "1e-7"]);
        assert_eq!(
            [fixed(0.03125, 4), fixed(0.125, 2), fixed(0.05, 4), fixed(0.0, 4), fixed(1e21, 4)],
            ["0.0313", "0.13", "0.0500", "0.0000", "1e+21"]
        );
    }
}
