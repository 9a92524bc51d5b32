//! What is wrong with a text that is not YAML, in words for people who do not know how a YAML parser works.

use saphyr_parser::{Marker, ScanError};

use super::escape;
use crate::diagnostic::{Code, Diagnostic};
use crate::read::cursor::Cursor;
use crate::source::{FileId, Position, Span};

/// The parser's message when its own limit of nested flow collections is reached.
pub(super) const TOO_DEEP: &str = "recursion limit exceeded";

#[allow(clippy::cast_possible_truncation)] // Files are far smaller than 4 GiB.
pub(super) fn pos(mark: &Marker) -> Position {
    // The parser counts columns from 0.
    Position { line: mark.line() as u32, column: mark.col() as u32 + 1 }
}

fn error(span: Span, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::YamlSyntax, message).at(span).help(help)
}

pub(super) fn wrong_tag(span: Span, expected: &str) -> Diagnostic {
    error(span, format!("the tag says {expected}, the value is something else"), "remove the tag, or correct the value")
}

pub(super) fn unsupported_tag(span: Span, tag: &str) -> Diagnostic {
    error(span, format!("the tag `{tag}` does not fit here"), "remove the tag")
}

pub(super) fn block_in_brackets(span: Span) -> Diagnostic {
    error(
        span,
        "a block of text is not allowed inside brackets",
        "quote the text, or write the entries on lines of their own",
    )
}

pub(super) fn complex_key(span: Span) -> Diagnostic {
    error(span, "a list or a mapping cannot be a key", "write text as the key; quote it if it starts with a bracket")
}

pub(super) fn tab(span: Span) -> Diagnostic {
    error(span, "tab in the indentation", "indent with spaces")
}

/// Where the parser stopped, as far as it matters for a message.
struct ErrorPlace<'t> {
    file: FileId,
    text: &'t str,
    /// Byte offset.
    offset: usize,
    pos: Position,
}

impl<'t> ErrorPlace<'t> {
    /// The parser marks the end of the text in a line of its own; that becomes the end of the last line with content.
    fn new(file: FileId, text: &'t str, mark: &Marker) -> Self {
        let mut cursor = Cursor::new(text);
        cursor.seek(pos(mark));
        let mut place = Self { file, text, offset: cursor.offset(), pos: cursor.pos() };
        if cursor.at_end() {
            place.go_to(text.trim_end().len());
        }
        place
    }

    fn go_to(&mut self, offset: usize) {
        self.offset = offset;
        self.pos = Cursor::around(self.text, offset).0;
    }

    fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next().filter(|next| !matches!(next, '\n' | '\r'))
    }

    /// Where the line starts, as a byte offset.
    fn line_start(&self) -> usize {
        self.text[..self.offset].rfind(['\n', '\r']).map_or(0, |end| end + 1)
    }

    /// A stretch of the line, as many bytes long.
    fn span(&self, length: usize) -> Span {
        let characters = self.rest().chars().count() - self.rest()[length..].chars().count();
        let column = self.pos.column + u32::try_from(characters).unwrap_or_default();
        Span::new(self.file, self.pos, Position { column, ..self.pos })
    }

    /// The next character; nothing at the end of a line.
    fn character(&self) -> Span {
        self.span(self.next().map_or(0, char::len_utf8))
    }

    /// Up to white space or the end of the line.
    fn word(&self) -> &'t str {
        self.rest().split([' ', '\t', '\n', '\r']).next().unwrap_or_default()
    }

    fn found(&self) -> String {
        match self.next() {
            Some(next) => format!("found `{next}`"),
            None if self.rest().trim().is_empty() => "found the end of the file".to_owned(),
            None => "found the end of the line".to_owned(),
        }
    }
}

/// What a parser's error means. `opened` is the bracket that was not closed before, if one is known.
pub(super) fn diagnostic(file: FileId, text: &str, scan_error: &ScanError, opened: Option<Position>) -> Diagnostic {
    let mut place = ErrorPlace::new(file, text, scan_error.marker());
    let info = scan_error.info();
    match info {
        "simple key expect ':'" | "simple key expected" => missing_colon(place),
        "mapping values are not allowed in this context" => error(
            place.character(),
            "unexpected `:`",
            "quote a value that contains `: `, and give the keys of a mapping the same indentation",
        ),
        "while parsing a block mapping, did not find expected key" => missing_key(place),
        "while parsing a block collection, did not find expected '-' indicator" => error(
            place.character(),
            format!("expected the `-` of a list entry, {}", place.found()),
            "give the entries of a list the same indentation, and what follows that of the list's key",
        ),
        "block sequence entries are not allowed in this context" => {
            error(place.character(), "a list cannot start here", "start it on a line of its own")
        }
        "while parsing a flow sequence, expected ',' or ']'" => missing_bracket(&place, "`,` or `]`", opened),
        "while parsing a flow mapping, did not find expected ',' or '}'" => {
            missing_bracket(&place, "`,` or `}`", opened)
        }
        "illegal placement of ':' indicator" => {
            error(place.character(), "unexpected `:` inside brackets", "close the bracket that is open here")
        }
        "misplaced bracket" => {
            error(place.character(), format!("unexpected bracket, {}", place.found()), "remove it, or quote the text")
        }
        "\"-\" is only valid inside a block" => {
            error(place.character(), "unexpected `-` inside brackets", "separate the entries by commas")
        }
        "tabs disallowed within this context (block indentation)" => {
            let line = &text[place.line_start()..];
            place.go_to(place.line_start() + line.find('\t').unwrap_or_default());
            tab(place.character())
        }
        "'-' must be followed by a valid YAML whitespace" | "':' must be followed by a valid YAML whitespace" => {
            let before = &text[place.line_start()..place.offset];
            place.go_to(place.line_start() + before.rfind('\t').unwrap_or(before.len()));
            error(place.character(), "tab where a space is needed", "write a space")
        }
        "while scanning a plain scalar, found a tab" => {
            place.go_to(place.offset + indented_by_tab(place.rest()).unwrap_or_default());
            tab(place.character())
        }
        "while parsing node, found unknown anchor" => {
            let alias = place.word().split([',', ']', '}']).next().unwrap_or_default();
            let help = format!("write `&{}` before the value it refers to, further up", alias.trim_start_matches('*'));
            error(place.span(alias.len()), format!("unknown alias `{alias}`"), help)
        }
        "while parsing a quoted scalar, found unknown escape character"
        | "while parsing a quoted scalar, did not find expected hexadecimal number"
        | "while parsing a quoted scalar, found invalid Unicode character escape code" => bad_escape(place),
        "invalid indentation in quoted scalar"
        | "while scanning a quoted scalar, found unexpected document indicator" => error(
            place.character(),
            "the quotes that open here are not closed",
            "close them; further lines of the text are indented deeper than its key",
        ),
        "while scanning a quoted scalar, found unexpected end of stream" => {
            error(place.character(), "the quotes that open here are not closed", "close them")
        }
        "invalid trailing content after double-quoted scalar" => error(
            place.span(place.word().len()),
            "unexpected text after the quotes",
            "quote all of the value, and write a quote inside of it twice (`''`) or as `\\\"`",
        ),
        "comment intercepting the multiline text" => error(
            place.character(),
            "a comment inside text of several lines",
            "put the comment on a line of its own above, or the text into a block (`|`)",
        ),
        "while parsing a node, did not find expected node content" | "unexpected end of plain scalar" => {
            error(place.character(), format!("expected a value, {}", place.found()), "write the value, or `null`")
        }
        _ if info.starts_with("unexpected character") => {
            let first = match place.next() {
                Some('`') | None => "a backtick".to_owned(),
                Some(first) => format!("`{first}`"),
            };
            error(place.character(), format!("text cannot start with {first}"), "put the text in quotes")
        }
        _ => other(&place, info),
    }
}

/// The first tab in the white space at the start of a line.
fn indented_by_tab(text: &str) -> Option<usize> {
    let tab = |(end, _): (usize, &str)| {
        let line = &text[end + 1..];
        let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
        line[..blank].find('\t').map(|tab| end + 1 + tab)
    };
    text.match_indices(['\n', '\r']).find_map(tab)
}

/// A line among the entries of a mapping has no colon. The parser notices at the next line.
fn missing_colon(mut place: ErrorPlace<'_>) -> Diagnostic {
    let before = if place.next().is_none() { place.offset } else { place.line_start() };
    let mut start = 0;
    let mut culprit = 0..0;
    for line in place.text[..before].split_inclusive(['\n', '\r']) {
        let content = line.trim_start_matches([' ', '\t', '-']);
        let is_content = !matches!(content.trim_end(), "") && !content.starts_with('#');
        if is_content {
            let first = start + line.len() - content.len();
            culprit = first..first + content.trim_end().len();
        }
        start += line.len();
    }
    place.go_to(culprit.start);
    error(
        place.span(culprit.len()),
        "expected `key: value`, found text without a colon",
        "write a colon and a space after the key; indent text that belongs to the value above deeper than its key",
    )
}

fn missing_key(mut place: ErrorPlace<'_>) -> Diagnostic {
    let line = &place.text[place.line_start()..];
    let content = line.trim_start_matches(' ');
    let dash = place.line_start() + line.len() - content.len();
    // The parser marks what follows the dash.
    if content.starts_with("- ") && dash < place.offset {
        place.go_to(dash);
        return error(
            place.character(),
            "expected a key, found a list entry",
            "put the list below the key it belongs to, where no value is written",
        );
    }
    let help =
        "give the keys of a mapping the same indentation, and indent further lines of a value deeper than its key";
    error(place.character(), format!("expected a key at the indentation of those above, {}", place.found()), help)
}

fn missing_bracket(place: &ErrorPlace<'_>, expected: &str, opened: Option<Position>) -> Diagnostic {
    let message = format!("expected {expected}, {}", place.found());
    let diagnostic = error(place.character(), message, "close the bracket, and separate entries by commas");
    match opened {
        Some(start) => {
            let bracket = Span::new(place.file, start, Position { column: start.column + 1, ..start });
            diagnostic.related(bracket, "opened here")
        }
        None => diagnostic,
    }
}

fn bad_escape(mut place: ErrorPlace<'_>) -> Diagnostic {
    let Some((offset, length)) = escape::first_invalid(place.rest()) else {
        return error(place.character(), "invalid escape in this text", "write `\\\\` for a backslash");
    };
    place.go_to(place.offset + offset);
    let sequence = &place.rest()[..length];
    let help = match sequence.as_bytes() {
        [b'\\', b'u', ..] if length == 6 => "write the character itself, or `\\U` and eight digits",
        [b'\\', b'x' | b'u' | b'U', ..] => "two hexadecimal digits follow `\\x`, four `\\u`, eight `\\U`",
        _ => "write `\\\\` for a backslash, or use single quotes",
    };
    error(place.span(length), format!("invalid escape `{sequence}`"), help)
}

/// The rarer errors: the parser's message, ours, and what to do.
const OTHERS: &[(&str, &str, &str)] = &[
    (
        "while scanning a block scalar, did not find expected comment or line break",
        "unexpected text after the `|` or `>` of a block of text",
        "start the text on the next line; quote a value that starts with `|` or `>`",
    ),
    ("a block scalar content cannot start with a tab", "the block of text starts with a tab", "indent it with spaces"),
    (
        "wrongly indented line in block scalar",
        "a blank line at the start of the block of text is indented deeper than the text",
        "remove its spaces",
    ),
    (
        "while scanning a block scalar, found an indentation indicator equal to 0",
        "a block of text cannot have the indentation 0",
        "write a number from 1 to 9, or none",
    ),
    (
        "while scanning an anchor or alias, did not find expected alphabetic or numeric character",
        "an anchor or an alias without a name",
        "quote text that starts with `&` or `*`",
    ),
    ("the handle wasn't declared", "a tag with an unknown prefix", "remove the tag"),
    (
        "did not find expected <document start>",
        "expected `---` after the directives",
        "remove the line that starts with `%`",
    ),
    (
        "missing explicit document end marker before directive",
        "a directive after the document",
        "quote text that starts with `%`",
    ),
    (
        "a byte order mark must not appear inside a document",
        "a byte order mark inside the text",
        "remove the invisible character U+FEFF",
    ),
    ("invalid indentation", "the line is indented less than what it belongs to", "indent it deeper"),
    (
        "invalid indentation in flow construct",
        "the line is indented less than the brackets around it",
        "indent it deeper",
    ),
    ("invalid indentation for anchor", "the anchor is indented less than what it belongs to", "indent it deeper"),
    ("tab cannot be used as indentation", "tab in the indentation", "indent with spaces"),
    ("tabs disallowed in this context", "unexpected tab", "use spaces"),
    (
        "comments must be separated from other tokens by whitespace",
        "a comment right after a value",
        "write a space before `#`, or quote the text",
    ),
    ("mapping keys are not allowed in this context", "unexpected `?`", "quote text that starts with `? `"),
    ("invalid content after document end marker", "unexpected text after `...`", "remove it"),
    (
        "plain scalar cannot start with '-' followed by ,[]{}",
        "unexpected `-` inside brackets",
        "put the text in quotes",
    ),
    ("':' may not precede any of `[{` in flow mapping", "expected a space after `:`", "write a space"),
];

fn other(place: &ErrorPlace<'_>, info: &str) -> Diagnostic {
    for &(known, message, help) in OTHERS {
        if known == info {
            return error(place.character(), message, help);
        }
    }
    // The rest concerns directives and tags; the parser's message has what it was doing before what it expected.
    let message = info.rsplit_once(", ").map_or(info, |(_, problem)| problem);
    error(place.character(), message, "quote text that starts with `%`, `!`, `&`, `*` or `?`")
}
