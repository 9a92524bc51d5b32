//! Diagnostics as texts for compile errors and cargo's output.

use evalsuite_loader::diagnostic::{Diagnostic, Diagnostics, Severity};
use evalsuite_loader::render;
use evalsuite_loader::source::Files;

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
    pub(crate) fn new(diagnostic: &Diagnostic, files: &Files) -> Self {
        Self {
            name: diagnostic.code.name().to_owned(),
            severity: diagnostic.severity(),
            text: without_severity(&render::text(diagnostic, files, render::Style::Plain)),
            short: short(diagnostic, files),
        }
    }

    /// A warning that is not about a place in the suite's files.
    pub(crate) fn warning(name: &str, text: String) -> Self {
        Self { name: name.to_owned(), severity: Severity::Warning, short: text.replace("\n  = help: ", ": "), text }
    }
}

/// Compiler and cargo say themselves whether it is an error: `error[E019 unknown-key]: …` becomes `[E019 unknown-key] …`.
fn without_severity(text: &str) -> String {
    match text.split_once('[').and_then(|(_, rest)| rest.split_once("]: ")) {
        Some((code, rest)) => format!("[{code}] {rest}").trim_end().to_owned(),
        None => text.trim_end().to_owned(),
    }
}

fn short(diagnostic: &Diagnostic, files: &Files) -> String {
    let place = files.get(diagnostic.span.file).shown;
    let position = match diagnostic.span.range {
        Some((start, _)) => format!(":{}:{}", start.line, start.column),
        None => String::new(),
    };
    let help = diagnostic.help.as_deref().map(|help| format!(" (help: {help})")).unwrap_or_default();
    let text = format!("{place}{position}: {} [{}]{help}", diagnostic.message, diagnostic.code);
    text.replace(['\n', '\r'], " ")
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

/// All diagnostics by file as it is shown, then by position.
pub(crate) fn sorted(diagnostics: Diagnostics, files: &Files) -> Vec<Diagnostic> {
    let mut sorted: Vec<Diagnostic> = diagnostics.into_iter().collect();
    sorted.sort_by_cached_key(|diagnostic| (files.get(diagnostic.span.file).shown, diagnostic.span.range));
    sorted
}
