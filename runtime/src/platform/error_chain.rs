//! An error with its sources.

use std::error::Error;
use std::iter::successors;

use crate::platform::excerpt::middle_out;

/// Characters kept of an error or a panic: a record with more can be too large to be read.
pub(crate) const LONGEST: usize = 16 * 1024;

/// The error and its sources, outermost first.
pub(crate) fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    successors(Some(error), |&error| error.source())
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
