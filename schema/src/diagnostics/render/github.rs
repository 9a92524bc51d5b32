//! A diagnostic as an annotation on GitHub.

use std::cmp::Reverse;

use crate::diagnostics::Location;
use crate::diagnostics::workflow_command::{command, commands};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity, notes};

/// Problems as annotations, one per line: errors before warnings, those with many places first; at most nine of each kind, and one that
/// says how many more there are.
pub fn github_annotations(diagnostics: &Diagnostics) -> String {
    let mut text = String::new();
    for severity in [Severity::Error, Severity::Warning] {
        let mut problems: Vec<&Diagnostic> = diagnostics.iter().filter(|found| found.severity() == severity).collect();
        problems.sort_by_key(|problem| Reverse(problem.related.len()));
        let more = |count| format!("{count} more {}s; `cargo evalsuite check` shows them all", severity.as_str());
        text.push_str(&commands(severity, &problems, |problem| github(problem), more));
    }
    text
}

/// A problem as a workflow command of GitHub, which shows it at the line:
/// `::error file=FILE,line=LINE,col=COLUMN,title=E019 unknown-key::MESSAGE`. The other places of a problem with
/// many, and the help, are further lines of the message.
pub fn github(diagnostic: &Diagnostic) -> String {
    let location = diagnostic.place.as_ref().map(|place| match place.start() {
        Some(start) => Location::new(place.file.as_str(), start.line, start.column),
        None => Location::new(place.file.as_str(), 0, 0),
    });
    let mut message = diagnostic.message.clone();
    for note in notes(diagnostic.related.iter().filter(|related| related.place.excerpt.is_none())) {
        message.push_str(&format!("\nnote: {note}"));
    }
    if let Some(help) = &diagnostic.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    command(diagnostic.severity(), location.as_ref(), &diagnostic.code.to_string(), &message)
}
