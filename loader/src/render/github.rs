use crate::diagnostic::Diagnostic;
use crate::source::Files;

/// A problem as a workflow command of GitHub, which shows it beside the line:
/// `::error file=FILE,line=LINE,col=COLUMN,title=E019 unknown-key::MESSAGE`. The help, if there is one, is the second line of
/// the message.
pub fn github(diagnostic: &Diagnostic, files: &Files) -> String {
    let mut command =
        format!("::{} file={}", diagnostic.severity().as_str(), property(&files.get(diagnostic.span.file).shown));
    if let Some((start, _)) = diagnostic.span.range {
        command.push_str(&format!(",line={},col={}", start.line, start.column));
    }
    command.push_str(&format!(",title={}::{}", property(&diagnostic.code.to_string()), data(&diagnostic.message)));
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
