//! Diagnostics as people and programs read them: text with source lines, one line, JSON, GitHub's annotations, SARIF.

mod github;
mod json;
mod one_line;
mod sarif;
mod text;

use crate::diagnostics::{Diagnostics, Severity, counted};

pub use github::{github, github_annotations};
pub use json::{JsonDiagnostic, json};
pub use one_line::{one_line, short};
pub use sarif::{SarifHelp, SarifLog, sarif};
pub use text::{text, text_without_severity};

/// Whether text is meant for a terminal with colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// No escape sequences.
    #[default]
    Plain,
    /// The colors of rustc.
    Colored,
}

/// All problems, those with one cause as one, with an empty line after each, and the count. Without problems, only the count.
pub fn report(diagnostics: &Diagnostics, style: Style) -> String {
    let diagnostics = diagnostics.clone().grouped();
    let mut report = String::new();
    for diagnostic in &diagnostics {
        report.push_str(&text(diagnostic, style));
        report.push_str("\n\n");
    }
    report + &summary(&diagnostics)
}

/// How many problems there are: `2 errors, 1 warning`, or `no problems`.
pub fn summary(diagnostics: &Diagnostics) -> String {
    let count = |severity: Severity| {
        diagnostics.iter().filter(|found| found.severity() == severity).count() + diagnostics.left_out(severity)
    };
    let counts = [Severity::Error, Severity::Warning].map(|severity| (count(severity), severity.as_str()));
    let parts = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "no problems".to_owned() } else { parts.join(", ") }
}
