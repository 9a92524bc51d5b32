use saphyr_parser::{Marker, ScanError};

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Pos, Span};

/// What the parser says when its own limit of nested flow collections is reached.
pub(super) const TOO_DEEP: &str = "recursion limit exceeded";

pub(super) fn pos(mark: &Marker) -> Pos {
    // Files are far smaller than 4 GiB. The parser counts columns from 0.
    #[allow(clippy::cast_possible_truncation)]
    Pos { line: mark.line() as u32, column: mark.col() as u32 + 1 }
}

pub(super) fn diagnostic(file: FileId, _text: &str, error: &ScanError) -> Diagnostic {
    let start = pos(error.marker());
    Diagnostic::new(Code::YamlSyntax, Span::new(file, start, start), error.info())
}

pub(super) fn wrong_tag(span: Span, expected: &str) -> Diagnostic {
    Diagnostic::new(Code::YamlSyntax, span, format!("the tag promises {expected}, the value is something else"))
        .help("remove the tag")
}

pub(super) fn unsupported_tag(span: Span, tag: &str) -> Diagnostic {
    Diagnostic::new(Code::YamlSyntax, span, format!("the tag `{tag}` does not fit here")).help("remove the tag")
}

pub(super) fn complex_key(span: Span) -> Diagnostic {
    Diagnostic::new(Code::YamlSyntax, span, "a list or a mapping cannot be a key").help("use text as the key")
}
