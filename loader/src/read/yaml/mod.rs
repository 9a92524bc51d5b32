//! YAML 1.2, core schema, with merge keys.

mod anchors;
mod characters;
mod escape;
mod merge;
mod scalar;
mod syntax_error;
mod tree;

use std::cell::Cell;

use saphyr_parser::{Event, Parser};

use self::characters::Characters;
use self::tree::Tree;
use super::MAX_NODES;
use super::cursor::Cursor;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::read::node::{Data, Node};
use crate::source::{FileId, Position, Span};

/// The tree of a YAML document; `Null` for an empty one.
///
/// `None` if there is no tree to check: the text is not YAML, it exceeds a limit, or it has a number that no tree can
/// hold. Repeated keys (the first stays), merge keys that cannot be merged (left out) and a second document (left out) are
/// reported as well, but what is left can be checked.
pub(crate) fn parse_yaml(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    if let Some(problem) = forbidden_character(file, text) {
        diagnostics.push(problem);
        return None;
    }
    let overflow = Cell::new(None);
    let mut parser = Parser::new(Characters::new(text, &overflow));
    let mut tree = Tree::new(file, text, diagnostics);
    loop {
        let error = match parser.next_event() {
            Some(Ok((Event::StreamEnd, _))) | None => break,
            Some(Ok((event, span))) => match tree.accept(event, span) {
                tree::Next::Event => continue,
                tree::Next::Stop => break,
            },
            Some(Err(error)) => error,
        };
        let opened = tree.open_bracket();
        let problem = match overflow.get() {
            Some(_) => too_many_values(file, text, &overflow),
            None if error.info() == syntax_error::TOO_DEEP => return too_deep(file, text, &error, diagnostics),
            None => syntax_error::diagnostic(file, text, &error, opened),
        };
        diagnostics.push(problem);
        return None;
    }
    let root = tree.finish();
    // A tree that failed has reported why: it may have reached the limit before.
    if root.is_some() && overflow.get().is_some() {
        diagnostics.push(too_many_values(file, text, &overflow));
        return None;
    }
    root
}

/// YAML allows no control characters but tab and line breaks. The scanner lets most of them pass, and stops at NUL.
fn forbidden_character(file: FileId, text: &str) -> Option<Diagnostic> {
    let bytes = text.as_bytes();
    let mut at = 0;
    // Not an iterator with adapters: every byte of every file passes here, in code that runs unoptimised.
    while at < bytes.len() {
        let forbidden = match bytes[at] {
            b'\t' | b'\n' | b'\r' => false,
            0..0x20 | 0x7F => true,
            0xC2 => bytes[at + 1] < 0xA0 && bytes[at + 1] != 0x85,
            0xEF => bytes[at + 1] == 0xBF && bytes[at + 2] >= 0xBE,
            _ => false,
        };
        if forbidden {
            let (start, end) = Cursor::around(text, at);
            let code = text[at..].chars().next().map_or(0, u32::from);
            let message = format!("character U+{code:04X} is not allowed in YAML");
            let help = format!("write it as `\\u{code:04x}` in double quotes");
            return Some(Diagnostic::new(Code::YamlSyntax, message).at(Span::new(file, start, end)).help(help));
        }
        at += 1;
    }
    None
}

fn too_many_values(file: FileId, text: &str, overflow: &Cell<Option<usize>>) -> Diagnostic {
    let (start, end) = Cursor::around(text, overflow.get().unwrap_or_default());
    let message = format!("more than {MAX_NODES} values");
    Diagnostic::new(Code::LimitExceeded, message).at(Span::new(file, start, end)).help("split the file")
}

/// The scanner gives up at 256 nested flow collections, all of which it reads before the tree sees the first. Without what
/// follows, the tree sees them, and reports where the limit is reached.
fn too_deep(file: FileId, text: &str, error: &saphyr_parser::ScanError, diagnostics: &mut Diagnostics) -> Option<Node> {
    let pos = syntax_error::pos(error.marker());
    let mut cursor = Cursor::new(text);
    cursor.seek(pos);
    let before = diagnostics.len();
    parse_yaml(file, &text[..cursor.offset().min(text.len())], diagnostics);
    if diagnostics.len() == before {
        diagnostics.push(anchors::too_deep(Span::new(file, pos, pos)));
    }
    None
}

impl Node {
    fn empty(file: FileId) -> Self {
        Self { span: Span::new(file, Position::START, Position::START), data: Data::Null }
    }
}
