//! Diagnostics as texts for compile errors and cargo's output.

use evalsuite_loader::render;
use evalsuite_schema::diagnostic::{Diagnostic, Severity};

/// A rendered problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Name of the diagnostic, such as `unknown-key`.
    pub name: String,
    /// Whether the suite cannot be used.
    pub severity: Severity,
    /// The fact, then the place, a snippet and help; several lines.
    pub text: String,
    /// Place, fact and help in one line.
    pub short: String,
}

impl Message {
    pub(crate) fn new(diagnostic: &Diagnostic) -> Self {
        Self {
            name: diagnostic.code.name().to_owned(),
            severity: diagnostic.severity(),
            text: render::text_without_severity(diagnostic),
            short: render::short(diagnostic),
        }
    }

    /// A warning that is not about a place in the suite's files.
    pub(crate) fn warning(name: &str, text: String) -> Self {
        Self { name: name.to_owned(), severity: Severity::Warning, short: text.replace("\n  = help: ", ": "), text }
    }
}

/// Most messages that are shown of one suite: more help nobody and fill the screen.
const MOST: usize = 20;

/// At most 20 texts; of more the last one counts the rest.
pub fn limited(texts: Vec<String>, what: &str, entry: &str) -> Vec<String> {
    if texts.len() <= MOST {
        return texts;
    }
    let more = texts.len() - (MOST - 1);
    let mut texts = texts;
    texts.truncate(MOST - 1);
    texts.push(format!("and {more} more {what}s\n  = help: `cargo evalsuite check {entry}` lists all"));
    texts
}
