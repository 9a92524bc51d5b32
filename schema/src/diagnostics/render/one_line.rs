//! A diagnostic in one line, as compilers print theirs, or with its name.

use crate::diagnostics::{Diagnostic, Position};

/// A problem in one line for editors and problem matchers: `FILE:LINE:COLUMN: error[E019]: MESSAGE (help: HELP)`.
///
/// A problem of a whole file or directory is at line 1, column 1, for every reader of this form expects both. One without a file starts
/// with the severity.
pub fn one_line(diagnostic: &Diagnostic) -> String {
    let Diagnostic { code, message, place, help, .. } = diagnostic;
    let place = place.as_ref().map(|place| {
        let start = place.start().unwrap_or(Position::START);
        format!("{}:{}:{}: ", place.file, start.line, start.column)
    });
    let help = help.as_deref().map(|help| format!(" (help: {help})")).unwrap_or_default();
    let severity = diagnostic.severity().as_str();
    format!("{}{severity}[{}]: {message}{help}", place.unwrap_or_default(), code.as_str()).replace(['\n', '\r'], " ")
}

/// A problem in one line: `FILE:LINE:COLUMN: MESSAGE [E019 unknown-key] (help: HELP)`, without the parts that it does not have.
pub fn short(diagnostic: &Diagnostic) -> String {
    let Diagnostic { code, message, place, help, .. } = diagnostic;
    let place = place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    let help = help.as_deref().map(|help| format!(" (help: {help})")).unwrap_or_default();
    format!("{place}{message} [{code}]{help}").replace(['\n', '\r'], " ")
}
