//! A diagnostic as an annotation on GitHub.

use evalsuite_schema::diagnostic::{Diagnostic, notes};

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
