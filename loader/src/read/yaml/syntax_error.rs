//! What is wrong with a text that is not YAML, and where, in words for people who do not know how a YAML parser works.

use granit_parser::{ErrorKind, ScanError};

use super::{offset, scalar};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Position, Span, position_after};

const INDENTED_LESS: &str = "the line is indented less than what it belongs to";

fn error(span: Span, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::YamlSyntax, message).at(span).help(help)
}

pub(super) fn wrong_tag(span: Span, expected: &str) -> Diagnostic {
    error(span, format!("the tag says {expected}, the value is something else"), "remove the tag, or correct the value")
}

pub(super) fn unsupported_tag(span: Span, tag: &str) -> Diagnostic {
    error(span, format!("the tag `{tag}` does not fit here"), "remove the tag")
}

pub(super) fn complex_key(span: Span) -> Diagnostic {
    let help = "put text that starts with `{` or `[` in quotes, such as \"{{ name }}\"; a key is text";
    error(span, "a list or a mapping cannot be a key", help)
}

/// A line in brackets that is indented less than the key or dash that they belong to.
pub(super) fn indented_less(span: Span) -> Diagnostic {
    error(span, INDENTED_LESS, "indent it deeper")
}

/// A text in quotes has a line that is indented less than its key: the closing quotes may be those of another text.
pub(super) fn unclosed_quotes(span: Span) -> Diagnostic {
    let help = "close them; further lines of the text are indented deeper than its key";
    error(span, "the quotes that open here are not closed", help)
}

pub(super) fn tab(span: Span) -> Diagnostic {
    error(span, "tab in the indentation", "indent with spaces")
}

fn found(place: TextOffset<'_>) -> String {
    match place.next() {
        Some(next) => format!("found `{next}`"),
        None if place.rest().trim().is_empty() => "found the end of the file".to_owned(),
        None => "found the end of the line".to_owned(),
    }
}

/// What the parser's error means: it has read `seen` bytes of the text, whose end is given, and the innermost open bracket is at `opened`.
pub(super) fn diagnostic(
    end: TextOffset<'_>,
    seen: usize,
    opened: Option<Position>,
    scan_error: &ScanError,
) -> Diagnostic {
    use ErrorKind as Kind;

    let text = end.text;
    // The parser marks the end of the text in a line of its own.
    let stopped = offset(*scan_error.marker());
    let mut place = if stopped < text.len() { end.to(stopped) } else { end };
    if let Some(problem) = certain_problem(place, scan_error.kind(), opened.is_some()) {
        return problem;
    }
    let (message, help) = match scan_error.kind() {
        Kind::SimpleKeyExpected | Kind::InvalidSimpleKey => return missing_colon(place),
        Kind::ExpectedBlockMappingKey => return missing_key(place),
        Kind::ExpectedFlowSequenceSeparator => return missing_bracket(place, '[', opened),
        Kind::ExpectedFlowMappingSeparator => return missing_bracket(place, '{', opened),
        Kind::UnclosedFlowCollection { open } => {
            return missing_bracket(end, *open, Some(place.position()));
        }
        Kind::MismatchedFlowCollectionEnd { open, close } => {
            (format!("`{open}` is closed by `{close}`"), "close the brackets in the order in which they were opened")
        }
        Kind::UnknownAnchor => {
            let alias = place.word().split([',', ']', '}']).next().unwrap_or_default();
            let help = format!(
                "put text that starts with `*` in quotes; for an alias, write `&{}` before the value it refers to, further up",
                alias.trim_start_matches('*')
            );
            return error(place.span(alias.len()), format!("unknown alias `{alias}`"), help);
        }
        Kind::UnknownQuotedScalarEscape
        | Kind::InvalidQuotedScalarHexEscape
        | Kind::InvalidLowSurrogateHexEscape
        | Kind::InvalidLowSurrogate
        | Kind::MissingLowSurrogate
        | Kind::UnpairedLowSurrogate
        | Kind::InvalidUnicodeEscape => return bad_escape(place),
        Kind::InvalidTrailingSingleQuotedScalar | Kind::InvalidTrailingDoubleQuotedScalar => {
            if let Some(quote) = open_quote(text, seen, place.offset) {
                return unclosed_quotes(place.to(quote).character());
            }
            let help = "quote all of the value, and write a quote inside of it twice (`''`) or as `\\\"`";
            return error(place.span(place.word().len()), "unexpected text after the quotes", help);
        }
        Kind::ExpectedBlockSequenceEntry => (
            format!("expected the `-` of a list entry, {}", found(place)),
            "indent the line like the first key after the `-` above, start another entry with `- `, or indent it like the key of the list",
        ),
        Kind::MisplacedFlowCollectionEnd => {
            (format!("unexpected bracket, {}", found(place)), "remove it, or quote the text")
        }
        Kind::ExpectedNodeContent | Kind::UnexpectedEndOfPlainScalar => {
            (format!("expected a value, {}", found(place)), "write the value, or `null`")
        }
        Kind::UnexpectedCharacter { character } => return unexpected_character(place, *character),
        Kind::TabInBlockIndentation => {
            let (start, _) = place.line();
            return tab(place.to(start + text[start..].find('\t').unwrap_or_default()).character());
        }
        Kind::TabInPlainScalar => {
            let tab_at = place.offset + indented_by_tab(place.rest()).unwrap_or_default();
            return tab(place.to(tab_at).character());
        }
        Kind::InvalidBlockEntryWhitespace | Kind::InvalidMappingValueWhitespace => {
            let start = place.line().0;
            place = place.to(text[start..place.offset].rfind('\t').map_or(place.offset, |tab| start + tab));
            ("tab where a space is needed".to_owned(), "write a space")
        }
        // After a value in brackets, the parser expects the start of another document.
        Kind::ExpectedDocumentStart if !text.lines().any(|line| line.starts_with('%')) => {
            let help = "remove it, or quote all of the value; a file with one JSON object per line is a `.jsonl` file";
            ("unexpected text after the value".to_owned(), help)
        }
        kind => {
            let (message, help) = fixed(kind);
            (message.to_owned(), help)
        }
    };
    error(place.character(), message, help)
}

/// The problem where the text around the place where the parser stopped shows what was meant.
fn certain_problem(stopped: TextOffset<'_>, kind: &ErrorKind, in_brackets: bool) -> Option<Diagnostic> {
    use ErrorKind as Kind;

    match kind {
        Kind::SimpleKeyExpected | Kind::InvalidSimpleKey | Kind::MappingValueNotAllowed => {
            let notation = stopped.notation().or_else(|| stopped.key_without_blank());
            notation.or_else(|| stopped.colon_in_text().filter(|_| *kind == Kind::MappingValueNotAllowed))
        }
        Kind::MissingAnchorOrAliasName => stopped.notation(),
        Kind::UnclosedQuotedScalar | Kind::DocumentIndicatorInQuotedScalar => stopped.closed_by_another_quote(),
        Kind::UnexpectedCharacter { character: character @ ('%' | '@' | '`') } if !in_brackets => {
            stopped.needs_quotes(&format!("text cannot start with {}", shown(*character)))
        }
        _ => None,
    }
}

/// A character in a message, whose backticks are around it.
fn shown(character: char) -> String {
    if character == '`' { "a backtick".to_owned() } else { format!("`{character}`") }
}

/// Message and help of the errors that need nothing of the text.
fn fixed(kind: &ErrorKind) -> (&'static str, &'static str) {
    use ErrorKind as Kind;

    match kind {
        Kind::MappingValueNotAllowed => (
            "unexpected `:`",
            "quote a value that contains `: `, give the keys of a mapping the same indentation, and write a space after the `:` of the line above",
        ),
        Kind::BlockSequenceEntryNotAllowed => ("a list cannot start here", "start it on a line of its own"),
        Kind::InvalidColonPlacement => ("unexpected `:` inside brackets", "close the bracket that is open here"),
        Kind::BlockEntryInFlowCollection => ("unexpected `-` inside brackets", "separate the entries by commas"),
        Kind::UnclosedQuotedScalar | Kind::DocumentIndicatorInQuotedScalar => {
            ("the quotes that open here are not closed", "close them")
        }
        Kind::CommentInterceptedScalar => (
            "a comment inside text of several lines",
            "put the comment on a line of its own above, or the text into a block (`|`)",
        ),
        Kind::InvalidBlockScalarHeader => (
            "unexpected text after the `|` or `>` of a block of text",
            "start the text on the next line; quote a value that starts with `|` or `>`",
        ),
        Kind::TabAtBlockScalarStart => ("the block of text starts with a tab", "indent it with spaces"),
        Kind::InvalidBlockScalarIndent => {
            ("a blank line at the start of the block of text is indented deeper than the text", "remove its spaces")
        }
        Kind::ZeroBlockScalarIndent => {
            ("a block of text cannot have the indentation 0", "write a number from 1 to 9, or none")
        }
        Kind::MissingAnchorOrAliasName => {
            ("an anchor or an alias without a name", "quote text that starts with `&` or `*`")
        }
        Kind::UndeclaredTagHandle => ("a tag with an unknown prefix", "remove the tag"),
        Kind::ExpectedDocumentStart => ("expected `---` after the directives", "remove the line that starts with `%`"),
        Kind::MissingDocumentEndBeforeDirective => {
            ("a directive after the document", "quote text that starts with `%`")
        }
        Kind::BomInsideDocument => ("a byte order mark inside the text", "remove the invisible character U+FEFF"),
        Kind::InvalidIndentation => (INDENTED_LESS, "indent it deeper"),
        Kind::TabNotAllowed => ("unexpected tab", "use spaces"),
        Kind::CommentNotSeparated => ("a comment right after a value", "write a space before `#`, or quote the text"),
        Kind::MappingKeyNotAllowed => ("unexpected `?`", "quote text that starts with `? `"),
        Kind::InvalidDocumentEnd => ("unexpected text after `...`", "remove it"),
        Kind::PlainScalarStartsWithDashFlowIndicator => ("unexpected `-` inside brackets", "put the text in quotes"),
        Kind::FlowMappingValueAdjacentCollection => ("expected a space after `:`", "write a space"),
        // The rest concerns directives and tags.
        _ => ("not a directive or a tag as YAML writes them", "quote text that starts with `%`, `!`, `&`, `*` or `?`"),
    }
}

/// The first quote from `start` that is not closed on its line, if that ends before `end`.
fn open_quote(text: &str, start: usize, end: usize) -> Option<usize> {
    let mut at = start;
    while let Some(quote) = text[at..].find(['"', '\'', '#']).map(|found| at + found).filter(|quote| *quote < end) {
        let line = text[quote..].split('\n').next().unwrap_or_default();
        let is_comment = line.starts_with('#');
        match line[1..].find(&line[..1]) {
            _ if is_comment => at = quote + line.len(),
            Some(close) => at = quote + close + 2,
            None => return Some(quote).filter(|_| quote + line.len() < end),
        }
    }
    None
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

/// A line among the entries of a mapping has no colon.
fn missing_colon(place: TextOffset<'_>) -> Diagnostic {
    let span = place.span(place.line().1.saturating_sub(place.offset));
    let help =
        "write a colon and a space after the key; indent text that belongs to the value above deeper than its key";
    error(span, "expected `key: value`, found text without a colon", help)
}

fn missing_key(place: TextOffset<'_>) -> Diagnostic {
    let content = place.text[place.line().0..].trim_start_matches(' ');
    let dash = place.to(place.text.len() - content.len());
    // The parser marks what follows the dash.
    if content.starts_with("- ") && dash.offset < place.offset {
        let help = "put the list below the key it belongs to, where no value is written";
        return error(dash.character(), "expected a key, found a list entry", help);
    }
    let help =
        "give the keys of a mapping the same indentation, and indent further lines of a value deeper than its key";
    error(place.character(), format!("expected a key at the indentation of those above, {}", found(place)), help)
}

fn missing_bracket(place: TextOffset<'_>, open: char, opened: Option<Position>) -> Diagnostic {
    let close = if open == '[' { ']' } else { '}' };
    let message = format!("expected `,` or `{close}`, {}", found(place));
    let diagnostic = error(place.character(), message, "close the bracket, and separate entries by commas");
    match opened {
        Some(start) => diagnostic.related(Span::character(place.file, start), "opened here"),
        None => diagnostic,
    }
}

/// Either the character is not allowed anywhere, or a value cannot start with it. The parser marks where the value starts.
fn unexpected_character(place: TextOffset<'_>, character: char) -> Diagnostic {
    match character {
        '|' | '>' => {
            let help = "quote the text, or write the entries on lines of their own";
            error(place.character(), "a block of text is not allowed inside brackets", help)
        }
        '!'..='~' => {
            error(place.character(), format!("text cannot start with {}", shown(character)), "put the text in quotes")
        }
        _ => {
            let code = u32::from(character);
            let place = place.to(place.offset + place.rest().find(character).unwrap_or_default());
            let help = format!("write it as `\\u{code:04x}` in double quotes");
            error(place.character(), format!("character U+{code:04X} is not allowed in YAML"), help)
        }
    }
}

fn bad_escape(place: TextOffset<'_>) -> Diagnostic {
    let Some((offset, length)) = scalar::first_invalid(place.rest()) else {
        return error(place.character(), "invalid escape in this text", "write `\\\\` for a backslash");
    };
    let place = place.to(place.offset + offset);
    let sequence = &place.rest()[..length];
    let help = match sequence.as_bytes() {
        [b'\\', b'u', ..] if length == 6 => "write the character itself, or `\\U` and eight digits",
        [b'\\', b'x' | b'u' | b'U', ..] => "two hexadecimal digits follow `\\x`, four `\\u`, eight `\\U`",
        _ => "write `\\\\` for a backslash, or use single quotes",
    };
    error(place.span(length), format!("invalid escape `{sequence}`"), help)
}

/// A byte of a text.
#[derive(Clone, Copy)]
pub(super) struct TextOffset<'t> {
    pub(super) file: FileId,
    pub(super) text: &'t str,
    /// Where it is.
    pub(super) offset: usize,
}

impl<'t> TextOffset<'t> {
    /// The end of the last line with content.
    pub(super) fn at_end(file: FileId, text: &'t str) -> Self {
        Self { file, text, offset: text.trim_end().len() }
    }

    pub(super) fn to(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    pub(super) fn position(&self) -> Position {
        position_after(&self.text[..self.offset], Position::START)
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    /// The next character of the line.
    pub(super) fn next(&self) -> Option<char> {
        self.rest().chars().next().filter(|next| !matches!(next, '\n' | '\r'))
    }

    /// Up to white space or the end of the line.
    pub(super) fn word(&self) -> &'t str {
        self.rest().split([' ', '\t', '\n', '\r']).next().unwrap_or_default()
    }

    /// Start and end of its line, without the white space there.
    pub(super) fn line(&self) -> (usize, usize) {
        let start = self.text[..self.offset].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let line = self.text[start..].split(['\n', '\r']).next().unwrap_or_default();
        (start, start + line.trim_end().len())
    }

    /// A stretch of the text, as many bytes long.
    pub(super) fn span(&self, length: usize) -> Span {
        Span::new(self.file, self.position(), self.to(self.offset + length).position())
    }

    /// The next character; nothing at the end of a line.
    pub(super) fn character(&self) -> Span {
        self.span(self.next().map_or(0, char::len_utf8))
    }
}
