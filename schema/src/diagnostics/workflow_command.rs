//! Workflow commands of GitHub Actions, which show problems at lines of files.

use crate::diagnostics::terminal::printable;
use crate::diagnostics::{Location, Severity};

/// Most commands of one kind that are printed by themselves: GitHub shows ten of a step, and drops the others without a word.
const SHOWN: usize = 9;

/// One command: `::error file=FILE,line=LINE,col=COLUMN,title=TITLE::MESSAGE`.
///
/// ```
/// use evalsuite_schema::diagnostics::Location;
/// use evalsuite_schema::diagnostics::Severity;
/// use evalsuite_schema::diagnostics::workflow_command::command;
///
/// let location = Location::new("cases/refund/case.yaml", 4, 1);
/// assert_eq!(
///     command(Severity::Error, Some(&location), "refund: shop", "no refund\n5 % off"),
///     "::error file=cases/refund/case.yaml,line=4,col=1,title=refund%3A shop::no refund%0A5 %25 off"
/// );
/// ```
pub fn command(severity: Severity, location: Option<&Location>, title: &str, message: &str) -> String {
    let mut properties = String::new();
    if let Some(location) = location.filter(|location| !location.file.is_empty()) {
        properties.push_str(&format!("file={},", property(&location.file)));
        if location.line > 0 {
            properties.push_str(&format!("line={},col={},", location.line, location.column));
        }
    }
    format!("::{} {properties}title={}::{}", severity.as_str(), property(title), data(message))
}

/// A command per item, one per line: at most nine, and one with the number of the others, unless the tenth is the last.
pub fn commands<T>(
    severity: Severity,
    items: &[T],
    command_of: impl Fn(&T) -> String,
    more: impl Fn(usize) -> String,
) -> String {
    let shown = if items.len() > SHOWN + 1 { SHOWN } else { items.len() };
    let mut text: String = items[..shown].iter().map(|item| command_of(item) + "\n").collect();
    if items.len() > shown {
        text.push_str(&command(severity, None, "evalsuite", &more(items.len() - shown)));
        text.push('\n');
    }
    text
}

/// A command is one line of the log, which must not control a terminal.
fn data(text: &str) -> String {
    let mut data = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => data.push_str("%25"),
            '\r' => data.push_str("%0D"),
            '\n' => data.push_str("%0A"),
            _ => data.push(printable(character)),
        }
    }
    data
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
