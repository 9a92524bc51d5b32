//! Comments and lists as other languages write them, and texts that need quotes: the parser only says that a character is unexpected.

use super::tree::position_after;
use crate::diagnostic::{Code, Diagnostic, Edit, Fix};
use crate::source::{FileId, Position, Span};

/// Starts of comments in other languages.
const COMMENTS: [&str; 3] = ["//", "/*", "<!--"];

/// Characters before the entries of lists in texts.
const BULLETS: [char; 5] = ['–', '—', '•', '·', '*'];

/// A text with byte offsets of which a diagnostic is made.
#[derive(Clone, Copy)]
pub(super) struct Places<'t> {
    pub(super) file: FileId,
    pub(super) text: &'t str,
}

impl Places<'_> {
    fn at(&self, offset: usize) -> Position {
        position_after(&self.text[..offset], Position::START)
    }

    fn problem(&self, (start, end): (usize, usize), message: String, help: String, new: Option<String>) -> Diagnostic {
        let (start, end) = (self.at(start), self.at(end));
        let fix = new.map(|text| Fix::Edits(vec![Edit::new(start, end, text)]));
        let span = Span::new(self.file, start, end);
        Diagnostic::new(Code::YamlSyntax, message).at(span).help(help).fix_if(fix)
    }

    /// Start and end of the line with a byte, without its line break.
    fn line(&self, offset: usize) -> (usize, usize) {
        let start = self.text[..offset].rfind('\n').map_or(0, |end| end + 1);
        let end = self.text[start..].find('\n').map_or(self.text.len(), |length| start + length);
        (start, start + self.text[start..end].trim_end().len())
    }

    /// A comment or the entry of a list in another notation, in the line where the parser stopped, or in the line with content above it.
    pub(super) fn notation(&self, stopped: usize) -> Option<Diagnostic> {
        let here = self.line(stopped);
        let above = self.text[..here.0].trim_end().len();
        let lines = [Some(here), (above > 0).then(|| self.line(above))];
        lines.into_iter().flatten().find_map(|(start, end)| {
            let line = &self.text[start..end];
            let content = line.trim_start();
            let first = start + line.len() - content.len();
            if let Some(comment) = COMMENTS.iter().find(|comment| content.starts_with(**comment)) {
                let is_whole = *comment == "//";
                let message = format!("`{comment}` does not start a comment");
                let new = is_whole.then(|| "#".to_owned());
                return Some(self.problem(
                    (first, first + comment.len()),
                    message,
                    "start comments with `#`".to_owned(),
                    new,
                ));
            }
            let bullet = content.chars().next().filter(|first| BULLETS.contains(first))?;
            let is_bullet = content[bullet.len_utf8()..].starts_with(' ');
            is_bullet.then(|| {
                let message = format!("`{bullet}` does not start the entry of a list");
                let place = (first, first + bullet.len_utf8());
                self.problem(place, message, "start entries with `- `".to_owned(), Some("-".to_owned()))
            })
        })
    }

    /// A value without quotes in which the parser stopped at a colon in the line of its key.
    pub(super) fn colon_in_text(&self, stopped: usize) -> Option<Diagnostic> {
        let (start, end) = self.line(stopped);
        let line = &self.text[start..end];
        let written = line.trim_start();
        let written = written.strip_prefix("- ").map_or(written, str::trim_start);
        let (key, value) = written.split_once(": ")?;
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        let value = value.trim_start();
        let first = end - value.len();
        let is_plain = value.starts_with(char::is_alphanumeric) && !value.contains(" #") && first < stopped;
        (is_key && is_plain).then(|| self.unquoted(first, end, "text without quotes cannot contain `: `"))
    }

    /// A value that starts with a character that needs quotes, up to the end of its line.
    pub(super) fn needs_quotes(&self, start: usize, message: &str) -> Option<Diagnostic> {
        let (_, end) = self.line(start);
        let is_alone = start < end && !self.text[start..end].contains(" #");
        is_alone.then(|| self.unquoted(start, end, message))
    }

    fn unquoted(&self, start: usize, end: usize, message: &str) -> Diagnostic {
        let quoted = evalsuite_schema::Value::from(&self.text[start..end]).to_string();
        self.problem((start, end), message.to_owned(), format!("quote it: `{quoted}`"), Some(quoted))
    }

    /// A text that opens with a straight quote and ends with a typographic one.
    pub(super) fn closed_by_another_quote(&self, open: usize) -> Option<Diagnostic> {
        let (_, end) = self.line(open);
        let quote = self.text[open..].chars().next()?;
        let last = self.text[open..end].chars().next_back().filter(|last| "“”‘’„´".contains(*last))?;
        let place = (end - last.len_utf8(), end);
        let message = format!("`{last}` does not close the quotes that `{quote}` opens");
        Some(self.problem(place, message, format!("write `{quote}`"), Some(quote.to_string())))
    }
}
