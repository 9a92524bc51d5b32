//! `key:value`: without a blank after the colon, this is text, and the parser stops at a line further down.

use super::tree::position_after;
use crate::diagnostic::{Code, Diagnostic, Edit, Fix};
use crate::source::{FileId, Position, Span};

/// The problem of the first of the lines like `key:value` that end where the parser stopped, at the byte `stopped`: in its line or above.
pub(super) fn problem(file: FileId, text: &str, stopped: usize) -> Option<Diagnostic> {
    let start = text[..stopped].rfind('\n').map_or(0, |end| end + 1);
    let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let mut colons: Vec<usize> = colon(&text[start..end]).map(|at| start + at).into_iter().collect();
    let mut rest = &text[..start];
    while let Some(line) = rest.lines().next_back() {
        rest = &rest[..line.as_ptr() as usize - text.as_ptr() as usize];
        match colon(line) {
            Some(at) => colons.push(rest.len() + at),
            None if line.trim().is_empty() || line.trim_start().starts_with('#') => {}
            None => break,
        }
    }
    let first = *colons.last()?;
    let line_start = text[..first].rfind('\n').map_or(0, |end| end + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    let written = entry(line);
    let key = &written[..written.find(':')?];
    let at = |offset: usize| position_after(&text[..offset], Position::START);
    let place = line_start + (line.len() - line.trim_start().len()) + (line.trim_start().len() - written.len());
    let span = Span::new(file, at(place), at(first + 1));
    let value = written[key.len() + 1..].trim_end();
    let edits = colons.iter().rev().map(|colon| Edit::new(at(*colon + 1), at(*colon + 1), " ")).collect();
    let message = format!("no space after the `:` of `{key}`");
    let problem = Diagnostic::new(Code::YamlSyntax, message).at(span);
    Some(problem.help(format!("write `{key}: {value}`")).fix_if(Some(Fix::Edits(edits))))
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
