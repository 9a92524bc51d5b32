//! Numbers with their nouns.

use std::fmt::Display;

/// A number and a noun, which gets an `s` unless the number is 1.
///
/// ```
/// use evalsuite_schema::diagnostics::counted;
///
/// assert_eq!(counted(1, "unchanged case"), "1 unchanged case");
/// assert_eq!(counted(0, "call"), "0 calls");
/// ```
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let end = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{end}")
}
