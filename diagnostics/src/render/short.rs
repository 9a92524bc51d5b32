//! A diagnostic in one line.

use crate::Diagnostic;

/// A problem in one line: `FILE:LINE:COLUMN: MESSAGE [E019 unknown-key] (help: HELP)`, without the parts that it does not have.
pub fn short(diagnostic: &Diagnostic) -> String {
    let Diagnostic { code, message, place, help, .. } = diagnostic;
    let place = place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    let help = help.as_deref().map(|help| format!(" (help: {help})")).unwrap_or_default();
    format!("{place}{message} [{code}]{help}").replace(['\n', '\r'], " ")
}
