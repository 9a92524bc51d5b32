//! Comments, lists and quotes as other programs write them, texts that need quotes, and keys without a blank: the parser only says that a
//! character is unexpected, or stops at a line further down.

use super::syntax_error::TextOffset;
use crate::diagnostic::{Code, Diagnostic, Edit, Fix, in_place_of};
use crate::source::Span;

/// Starts of comments in other languages.
const COMMENTS: [&str; 3] = ["//", "/*", "<!--"];

/// Characters before the entries of lists in texts.
const BULLETS: [char; 5] = ['–', '—', '•', '·', '*'];

impl TextOffset<'_> {
    /// The problem of `length` bytes, in whose place `new` would be right.
    fn problem(self, length: usize, message: String, help: String, new: Option<String>) -> Diagnostic {
        let span = self.span(length);
        let fix = new.and_then(|text| in_place_of(span, text));
        Diagnostic::new(Code::YamlSyntax, message).at(span).help(help).fix_if(fix)
    }

    /// A comment or the entry of a list in another notation, in this line, where the parser stopped, or in the line with content above it.
    pub(super) fn notation(self) -> Option<Diagnostic> {
        let above = self.text[..self.line().0].trim_end().len();
        let places = [Some(self), (above > 0).then(|| self.to(above))];
        places.into_iter().flatten().find_map(|place| {
            let (start, end) = place.line();
            let content = self.text[start..end].trim_start();
            let first = self.to(end - content.len());
            if let Some(comment) = COMMENTS.iter().find(|comment| content.starts_with(**comment)) {
                let message = format!("`{comment}` does not start a comment");
                let new = (*comment == "//").then(|| "#".to_owned());
                return Some(first.problem(comment.len(), message, "start comments with `#`".to_owned(), new));
            }
            let bullet = content.chars().next().filter(|first| BULLETS.contains(first))?;
            let is_bullet = content[bullet.len_utf8()..].starts_with(' ');
            is_bullet.then(|| {
                let message = format!("`{bullet}` does not start the entry of a list");
                first.problem(bullet.len_utf8(), message, "start entries with `- `".to_owned(), Some("-".to_owned()))
            })
        })
    }

    /// The first of the lines like `key:value`, which are texts, that end where the parser stopped: in this line or above.
    pub(super) fn key_without_blank(self) -> Option<Diagnostic> {
        let (start, end) = self.line();
        let mut colons: Vec<usize> = colon(&self.text[start..end]).map(|at| start + at).into_iter().collect();
        let mut rest = &self.text[..start];
        while let Some(line) = rest.lines().next_back() {
            rest = &rest[..line.as_ptr() as usize - self.text.as_ptr() as usize];
            match colon(line) {
                Some(at) => colons.push(rest.len() + at),
                None if line.trim().is_empty() || line.trim_start().starts_with('#') => {}
                None => break,
            }
        }
        let first = self.to(*colons.last()?);
        let (start, end) = first.line();
        let (key, value) = entry(&self.text[start..end]).split_once(':')?;
        let after = colons.iter().rev().map(|colon| self.to(*colon + 1).position());
        let fix = Fix::Edits(after.map(|at| Edit::new(at, at, " ")).collect());
        let span = self.to(first.offset - key.len()).span(key.len() + 1);
        let problem = Diagnostic::new(Code::YamlSyntax, format!("no space after the `:` of `{key}`")).at(span);
        Some(problem.help(format!("write `{key}: {value}`")).fix_if(Some(fix)))
    }

    /// A value without quotes in which the parser stopped at a colon in the line of its key.
    pub(super) fn colon_in_text(self) -> Option<Diagnostic> {
        let (start, end) = self.line();
        let (key, value) = entry(&self.text[start..end]).split_once(": ")?;
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        let value = value.trim_start();
        let first = end - value.len();
        let is_plain = value.starts_with(char::is_alphanumeric) && !value.contains(" #") && first < self.offset;
        (is_key && is_plain).then(|| self.to(first).unquoted(value, "text without quotes cannot contain `: `"))
    }

    /// A value that starts here with a character that needs quotes, up to the end of its line.
    pub(super) fn needs_quotes(self, message: &str) -> Option<Diagnostic> {
        let value = &self.text[self.offset..self.line().1.max(self.offset)];
        (!value.is_empty() && !value.contains(" #")).then(|| self.unquoted(value, message))
    }

    fn unquoted(self, value: &str, message: &str) -> Diagnostic {
        let quoted = evalsuite_schema::Value::from(value).to_string();
        self.problem(value.len(), message.to_owned(), format!("quote it: `{quoted}`"), Some(quoted))
    }

    /// A text that opens here with a straight quote and ends with a typographic one.
    pub(super) fn closed_by_another_quote(self) -> Option<Diagnostic> {
        let (_, end) = self.line();
        let quote = self.rest().chars().next()?;
        let last = self.text[self.offset..end].chars().next_back().filter(|last| "“”‘’„´".contains(*last))?;
        let message = format!("`{last}` does not close the quotes that `{quote}` opens");
        let place = self.to(end - last.len_utf8());
        Some(place.problem(last.len_utf8(), message, format!("write `{quote}`"), Some(quote.to_string())))
    }
}

/// What a line says, without its indentation and the dash of a list.
fn entry(line: &str) -> &str {
    let line = line.trim_start();
    line.strip_prefix("- ").map_or(line, str::trim_start)
}

/// The place of the colon in a line that is a key, a colon and a value.
fn colon(line: &str) -> Option<usize> {
    let written = entry(line);
    let (key, value) = written.split_once(':')?;
    let is_key = key.len() > 1
        && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    // `http://…` is a text, and a value in a line with another key is one.
    let is_value = !value.is_empty() && !value.starts_with([' ', '\t', '/', ':']) && !value.contains(": ");
    (is_key && is_value).then(|| line.len() - written.len() + key.len())
}

/// Opening and closing quotes. German texts open with the low ones and close with those that open an English text.
const CURLY_QUOTES: [(char, &[char]); 5] =
    [('“', &['”', '“']), ('”', &['”']), ('„', &['“', '”']), ('‘', &['’', '‘']), ('’', &['’'])];

/// A warning, if one pair of quotes surrounds all of a text that is written without other quotes.
pub(super) fn curly_quotes(text: &str, span: Span) -> Option<Diagnostic> {
    let first = text.chars().next()?;
    let (_, closing) = CURLY_QUOTES.iter().find(|(open, _)| *open == first)?;
    let inner = text[first.len_utf8()..].strip_suffix(*closing)?;
    let last = text.chars().next_back()?;
    // `“Yes,” she said, “of course”` is a text with quotes in it. An apostrophe is no quote.
    let has_more = inner.chars().any(|c| c == first || (c == last && c != '’'));
    if inner.is_empty() || has_more {
        return None;
    }
    let straight = evalsuite_schema::Value::from(inner).to_string();
    let message = format!("the quotes `{first}` and `{last}` are part of the text");
    let help = format!("write `{straight}`; if the text contains them, quote it: `'{text}'`");
    Some(Diagnostic::new(Code::CurlyQuotes, message).at(span).help(help).fix_if(in_place_of(span, straight)))
}
