//! What is wrong with a text that is not JSON.

use super::{Reader, Result};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Position, Span};

const NO_EXTRAS: &str = "JSON allows no comments or trailing commas";

/// What a value or a separator is part of, and where that starts.
#[derive(Clone, Copy)]
pub(super) enum Inside {
    Nothing,
    Array(Position),
    Object(Position),
}

fn error<T>(span: Span, message: impl Into<String>, help: impl Into<String>) -> Result<T> {
    Err(Box::new(Diagnostic::new(Code::JsonSyntax, message).at(span).help(help)))
}

/// The character at the reader, with its span, which is empty at the end.
fn next(reader: &Reader<'_, '_>) -> (Option<char>, Span) {
    let start = reader.pos();
    let next = reader.text[reader.at..].chars().next();
    let end = Position { column: start.column + u32::from(next.is_some()), ..start };
    (next, Span::new(reader.file, start, end))
}

/// Letters, digits and signs at the reader, which moves past them.
fn word<'t>(reader: &mut Reader<'_, 't>) -> (&'t str, Span) {
    let (start, first) = (reader.pos(), reader.at);
    while matches!(reader.byte(reader.at), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | b'-' | b'+' | b'.') {
        reader.at += 1;
    }
    (&reader.text[first..reader.at], reader.span(start))
}

/// A character as it is printed in backticks: escaped if it is not readable.
fn shown(character: char) -> String {
    if matches!(character, '"' | '\'') { character.to_string() } else { character.escape_debug().to_string() }
}

fn ends<T>(reader: &Reader<'_, '_>, inside: Inside, span: Span) -> Result<T> {
    let (what, bracket, start) = match inside {
        Inside::Nothing => return error(span, "there is no JSON value", "write at least `{}`"),
        Inside::Array(start) => ("list", "]", start),
        Inside::Object(start) => ("object", "}", start),
    };
    let opening = Span::character(reader.file, start);
    let message = format!("the text ends inside {} {what}", if what == "list" { "a" } else { "an" });
    let problem = Diagnostic::new(Code::JsonSyntax, message).at(span).help(format!("close it with `{bracket}`"));
    Err(Box::new(problem.related(opening, format!("the {what} starts here"))))
}

/// The next character; an error if the text ends here, or a comment starts.
fn next_inside(reader: &Reader<'_, '_>, inside: Inside) -> Result<(char, Span)> {
    let (next, span) = next(reader);
    let Some(next) = next else { return ends(reader, inside, span) };
    let is_comment = next == '#' || next == '/' && matches!(reader.byte(reader.at + 1), b'/' | b'*');
    if is_comment { error(span, "comments are not allowed", NO_EXTRAS) } else { Ok((next, span)) }
}

/// Whether the last character before the reader that is not white space is a comma.
fn comma_before(reader: &Reader<'_, '_>) -> bool {
    let before = reader.bytes[..reader.at].trim_ascii_end();
    before.last() == Some(&b',')
}

pub(super) fn missing_value<T>(reader: &mut Reader<'_, '_>, inside: Inside) -> Result<T> {
    let (next, span) = next_inside(reader, inside)?;
    match next {
        ']' if matches!(inside, Inside::Array(_)) && comma_before(reader) => {
            error(span, "trailing comma before `]`", NO_EXTRAS)
        }
        ',' | '}' | ']' | ':' => error(span, format!("expected a value, found `{next}`"), "write the value, or `null`"),
        '\'' | '`' => error(span, "text needs double quotes", "write `\"` around it"),
        '+' | '.' => error(word(reader).1, "not a number as JSON writes it", "numbers start with a digit or with `-`"),
        _ if next.is_ascii_alphabetic() || matches!(next, '_' | '$') => {
            let (word, span) = word(reader);
            let help = match word.to_ascii_lowercase().as_str() {
                "true" => "write `true`".to_owned(),
                "false" => "write `false`".to_owned(),
                "null" | "none" | "nil" | "undefined" => "write `null`".to_owned(),
                "nan" | "inf" | "infinity" => "JSON has finite numbers only".to_owned(),
                _ => format!("write `\"{word}\"` if it is text"),
            };
            error(span, format!("unknown word `{word}`"), help)
        }
        _ => error(span, format!("expected a value, found `{}`", shown(next)), "text needs double quotes"),
    }
}

pub(super) fn missing_separator<T>(reader: &mut Reader<'_, '_>, inside: Inside) -> Result<T> {
    let (next, span) = next_inside(reader, inside)?;
    let bracket = if matches!(inside, Inside::Array(_)) { ']' } else { '}' };
    let next_is_value = matches!(next, '"' | '{' | '[' | '-') || next.is_ascii_alphanumeric();
    let help = if next_is_value {
        "put a comma between the two".to_owned()
    } else {
        format!("put a comma between values, and `{bracket}` at the end")
    };
    error(span, format!("expected `,` or `{bracket}`, found `{}`", shown(next)), help)
}

pub(super) fn missing_key<T>(reader: &mut Reader<'_, '_>, object: Position) -> Result<T> {
    let (next, span) = next_inside(reader, Inside::Object(object))?;
    if next == '}' && comma_before(reader) {
        return error(span, "trailing comma before `}`", NO_EXTRAS);
    }
    if next.is_ascii_alphanumeric() || matches!(next, '_' | '$' | '-') {
        let (word, span) = word(reader);
        return error(span, format!("the key `{word}` needs double quotes"), format!("write `\"{word}\"`"));
    }
    if matches!(next, '\'' | '`') {
        return error(span, "keys need double quotes", "write `\"` around the key");
    }
    error(span, format!("expected a key, found `{}`", shown(next)), "keys are text in double quotes")
}

pub(super) fn missing_colon<T>(reader: &Reader<'_, '_>, key: &str, object: Position) -> Result<T> {
    let (next, span) = next_inside(reader, Inside::Object(object))?;
    let message = format!("expected `:` after the key `{}`, found `{}`", key.escape_debug(), shown(next));
    error(span, message, "put a colon between key and value")
}

pub(super) fn text_after_value<T>(reader: &mut Reader<'_, '_>) -> Result<T> {
    let (_, span) = next_inside(reader, Inside::Nothing)?;
    error(span, "unexpected text after the JSON value", "one value per document; put several in a list")
}

pub(super) fn in_string<T>(reader: &mut Reader<'_, '_>, start: Position) -> Result<T> {
    let (next, span) = next(reader);
    match next {
        None => error(reader.span(start), "the text ends inside a string", "close it with `\"`"),
        Some('\n' | '\r') => error(
            reader.span(start),
            "line break inside a string",
            "close the string, or write `\\n` for the line break",
        ),
        Some(control) => {
            let code = u32::from(control);
            let help = if control == '\t' { "write `\\t`".to_owned() } else { format!("write `\\u{code:04x}`") };
            error(span, format!("control character U+{code:04X} inside a string"), help)
        }
    }
}

pub(super) fn unknown_escape<T>(reader: &mut Reader<'_, '_>, start: Position, string: Position) -> Result<T> {
    reader.at += 1;
    let (next, _) = next(reader);
    let Some(next) = next.filter(|next| !next.is_ascii_control()) else { return in_string(reader, string) };
    let span = Span::new(reader.file, start, Position { column: start.column + 2, ..start });
    error(span, format!("unknown escape `\\{}`", shown(next)), "write `\\\\` for a backslash")
}

pub(super) fn bad_code_point<T>(reader: &mut Reader<'_, '_>, start: Position, string: Position) -> Result<T> {
    let (next, _) = next(reader);
    if next.is_none_or(|next| next.is_ascii_control()) {
        return in_string(reader, string);
    }
    error(reader.span(start), "`\\u` needs four hexadecimal digits", "such as `\\u00e4`")
}

pub(super) fn lone_surrogate<T>(span: Span) -> Result<T> {
    error(span, "half of a surrogate pair", "write both halves, or the character itself")
}

pub(super) fn bad_number<T>(reader: &mut Reader<'_, '_>, start: Position, first: usize, what: &str) -> Result<T> {
    reader.at = reader.at.max(first);
    let (_, rest) = word(reader);
    let end = rest.range.map_or(start, |(_, end)| end);
    let text = &reader.text[first..reader.at];
    let shown = if text.len() <= 40 { format!("`{text}`: {what}") } else { what.to_owned() };
    error(Span::new(reader.file, start, end), shown, "write it as JSON does, such as `0.5`")
}
