//! Markdown of reports: texts that it shows as they are, and the limit of its size.

use evalsuite_schema::diagnostics::terminal::{self, printable};

/// Most bytes that are written: GitHub refuses summaries above 1 MiB as a whole.
pub const MARKDOWN_LIMIT: usize = 900 * 1024;

/// The text with as many sections as may follow it, and what `omitted` says of the number of the others.
pub(crate) fn limited(mut text: String, sections: &[String], omitted: impl Fn(usize) -> String) -> String {
    for (index, section) in sections.iter().enumerate() {
        if text.len() + section.len() > MARKDOWN_LIMIT {
            let omitted = omitted(sections.len() - index);
            text.push_str(&format!("\n*{omitted}: this summary is limited in size.*\n"));
            break;
        }
        text.push_str(section);
    }
    text
}

/// Text that Markdown shows as it is.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '@' | '$' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(printable(other)),
        }
    }
    escaped
}

/// Text as code, whatever backticks it contains.
pub(crate) fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    // A backtick next to the fence would be a part of it. A space on both sides is not shown.
    let space = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", terminal::line(text))
}

/// A fence that the text does not close.
pub(crate) fn fence(text: &str) -> String {
    "`".repeat(longest_run(text).max(2) + 1)
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or_default()
}
