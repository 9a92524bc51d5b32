//! A diagnostic as an annotation on GitHub.

use evalsuite_schema::diagnostic::{Diagnostic, Diagnostics, Severity, notes};

/// Most annotations of one kind that are printed by themselves: GitHub shows ten of a step, and drops the others without a word.
const SHOWN: usize = 9;

/// Problems as annotations, one per line: errors before warnings, those with many places first; at most nine of each kind, and one that
/// says how many more there are.
pub fn github_annotations(diagnostics: &Diagnostics) -> String {
    let mut text = String::new();
    for severity in [Severity::Error, Severity::Warning] {
        let mut problems: Vec<&Diagnostic> = diagnostics.iter().filter(|found| found.severity() == severity).collect();
        problems.sort_by_key(|problem| std::cmp::Reverse(problem.related.len()));
        // The tenth place is for the last problem if there are only ten.
        let shown = if problems.len() > SHOWN + 1 { SHOWN } else { problems.len() };
        for problem in &problems[..shown] {
            text.push_str(&github(problem));
            text.push('\n');
        }
        let more = problems.len() - shown;
        if more > 0 {
            let kind = severity.as_str();
            text.push_str(&format!(
                "::{kind} title=evalsuite::{more} more {kind}s; `cargo evalsuite check` shows them all\n"
            ));
        }
    }
    text
}

/// A problem as a workflow command of GitHub, which shows it at the line:
/// `::error file=FILE,line=LINE,col=COLUMN,title=E019 unknown-key::MESSAGE`. The other places of a problem with
/// many, and the help, are further lines of the message.
pub fn github(diagnostic: &Diagnostic) -> String {
    let mut properties = Vec::new();
    if let Some(place) = &diagnostic.place {
        properties.push(format!("file={}", property(&place.file)));
        if let Some(start) = place.start() {
            properties.push(format!("line={},col={}", start.line, start.column));
        }
    }
    properties.push(format!("title={}", property(&diagnostic.code.to_string())));
    let (severity, message) = (diagnostic.severity().as_str(), data(&diagnostic.message));
    let mut command = format!("::{severity} {}::{message}", properties.join(","));
    for note in notes(diagnostic.related.iter().filter(|related| related.place.excerpt.is_none())) {
        command.push_str(&data(&format!("\nnote: {note}")));
    }
    if let Some(help) = &diagnostic.help {
        command.push_str(&data(&format!("\nhelp: {help}")));
    }
    command
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
