//! From the events of the YAML parser to a tree.

use std::borrow::Cow;

use saphyr_parser::{Event, Marker, ScalarStyle, Tag};

use super::anchors::{Anchors, too_deep, too_many_nodes};
use super::scalar::Scalar;
use super::{merge, scalar, syntax_error};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::read::cursor::Cursor;
use crate::read::node::{Data, Entry, Node};
use crate::read::{MAX_DEPTH, MAX_NODES, keys, number};
use crate::source::{FileId, Position, Span};

/// Builds nodes from the events of the parser.
pub(super) struct Tree<'a, 't> {
    file: FileId,
    text: &'t str,
    cursor: Cursor<'t>,
    /// Whether a letter or digit comes directly after the `#` of what may be a comment.
    has_such_comments: bool,
    diagnostics: &'a mut Diagnostics,
    /// Collections that have started and not ended, the root first.
    open: Vec<OpenCollection>,
    root: Option<Node>,
    anchors: Anchors,
    /// Values so far, aliases expanded.
    nodes: usize,
    /// Something was reported that leaves no tree to check.
    failed: bool,
}

/// Whether the tree wants another event.
pub(super) enum Next {
    Event,
    Stop,
}

/// A collection that has started and not ended.
struct OpenCollection {
    start: Position,
    /// The parser's number of its anchor, 0 for none.
    anchor: usize,
    is_flow: bool,
    contents: Contents,
}

enum Contents {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, key: Option<Key>, has_merge: bool },
}

struct Key {
    text: String,
    span: Span,
    is_merge: bool,
}

impl<'a, 't> Tree<'a, 't> {
    pub(super) fn new(file: FileId, text: &'t str, diagnostics: &'a mut Diagnostics) -> Self {
        let starts_comment = |(at, _): (usize, &str)| text[at + 2..].starts_with(char::is_alphanumeric);
        Self {
            file,
            text,
            has_such_comments: [" #", "\t#"].iter().any(|start| text.match_indices(start).any(starts_comment)),
            cursor: Cursor::new(text),
            diagnostics,
            open: Vec::new(),
            root: None,
            anchors: Anchors::default(),
            nodes: 0,
            failed: false,
        }
    }

    /// The root, `Null` if the document is empty; `None` if something was reported that leaves no tree to check.
    pub(super) fn finish(self) -> Option<Node> {
        if self.failed { None } else { Some(self.root.unwrap_or_else(|| Node::empty(self.file))) }
    }

    /// Where the innermost collection in brackets starts that is still open.
    pub(super) fn open_bracket(&self) -> Option<Position> {
        self.open.iter().rev().find(|open| open.is_flow).map(|open| open.start)
    }

    pub(super) fn accept(&mut self, event: Event<'_>, at: saphyr_parser::Span) -> Next {
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar(text, style, anchor, tag, at),
            Event::MappingStart(anchor, tag) => self.start(
                b'{',
                anchor,
                tag,
                Contents::Mapping { entries: Vec::new(), key: None, has_merge: false },
                at,
            ),
            Event::SequenceStart(anchor, tag) => self.start(b'[', anchor, tag, Contents::Sequence(Vec::new()), at),
            Event::MappingEnd | Event::SequenceEnd => self.end(at),
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::DocumentStart(_) if self.root.is_some() => self.second_document(at),
            _ => Next::Event,
        }
    }

    fn span(&self, start: Position, end: Position) -> Span {
        Span::new(self.file, start, end)
    }

    /// Reports problems after which reading cannot continue.
    fn fail(&mut self, diagnostic: Diagnostic) -> Next {
        self.diagnostics.push(diagnostic);
        self.failed = true;
        Next::Stop
    }

    fn second_document(&mut self, at: saphyr_parser::Span) -> Next {
        let span = self.span(pos(at.start), pos(at.end));
        self.diagnostics.push(
            Diagnostic::new(Code::MultipleDocuments, "second YAML document")
                .at(span)
                .help("write one document per file, without a `---` in between"),
        );
        Next::Stop
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        at: saphyr_parser::Span,
    ) -> Next {
        let tag = tag.as_deref();
        let mut start = pos(at.start);
        let end = match style {
            ScalarStyle::Plain if text.is_empty() && anchor == 0 && tag.is_none() => {
                start = self.nothing(start);
                start
            }
            ScalarStyle::Plain => pos(at.end),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => self.cursor.skip_quoted(start),
            ScalarStyle::Literal | ScalarStyle::Folded => self.cursor.end_of_content(start, pos(at.end)),
        };
        let span = self.span(start, end);
        if style == ScalarStyle::Plain && text.starts_with(['|', '>']) {
            return self.fail(syntax_error::block_in_brackets(span));
        }
        let is_merge = style == ScalarStyle::Plain && tag.is_none() && text == merge::KEY && self.expects_key();
        let data = match scalar::resolve(text, style, tag) {
            Scalar::Data(data) => data,
            Scalar::NotFinite => {
                self.diagnostics.push(
                    Diagnostic::new(Code::WrongType, "the number is not finite")
                        .at(span)
                        .help("quote it if it is meant as text"),
                );
                self.failed = true;
                Data::Null
            }
            Scalar::Mismatch(expected) => return self.fail(syntax_error::wrong_tag(span, expected)),
            Scalar::UnsupportedTag(tag) => return self.fail(syntax_error::unsupported_tag(span, &tag)),
        };
        if style == ScalarStyle::Plain && matches!(data, Data::String(_)) {
            self.check_comment_after(span);
        }
        self.place(Node { span, data }, anchor, is_merge)
    }

    /// A `#` before a letter or digit rarely starts a comment: `Order #1182 arrived` is the text `Order`.
    fn check_comment_after(&mut self, span: Span) {
        let (Some((_, end)), true) = (span.range, self.has_such_comments) else { return };
        self.cursor.seek(end);
        let rest = self.text[self.cursor.offset()..].lines().next().unwrap_or_default();
        let after = rest.trim_start_matches([' ', '\t']);
        let Some(comment) = after.strip_prefix('#').filter(|_| after.len() < rest.len()) else { return };
        if comment.starts_with(char::is_alphanumeric) {
            let word = comment.split(char::is_whitespace).next().unwrap_or_default();
            let message = format!("the text ends before `#{word}`, which is a comment");
            let help = "quote the text, or write a space after the `#` of a comment";
            self.diagnostics.push(Diagnostic::new(Code::TextCutByComment, message).at(span).help(help));
        }
    }

    /// The position of a missing value: the parser marks what comes next.
    fn nothing(&self, mark: Position) -> Position {
        match self.open.last() {
            Some(OpenCollection { contents: Contents::Mapping { key: Some(key), .. }, .. }) => {
                key.span.range.map_or(mark, |(_, end)| end)
            }
            _ => mark,
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(OpenCollection { contents: Contents::Mapping { key: None, .. }, .. }))
    }

    fn start(
        &mut self,
        bracket: u8,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        contents: Contents,
        at: saphyr_parser::Span,
    ) -> Next {
        let (start, is_flow) = self.collection_start(bracket, anchor != 0 || tag.is_some(), at);
        let place = self.span(start, Position { column: start.column + 1, ..start });
        if self.open.len() == MAX_DEPTH {
            return self.fail(too_deep(place));
        }
        if !is_flow && start.column > 1 && self.cursor.pos() == start && self.cursor.byte_before() == b'\t' {
            return self.fail(syntax_error::tab(Span::new(
                self.file,
                Position { column: start.column - 1, ..start },
                start,
            )));
        }
        if self.expects_key() {
            return self.fail(syntax_error::complex_key(place));
        }
        if let Some(tag) = tag.as_deref().and_then(scalar::core_name) {
            let matches = match contents {
                Contents::Sequence(_) => tag == "seq",
                Contents::Mapping { .. } => tag == "map",
            };
            if !matches {
                let tag = format!("!!{tag}");
                return self.fail(syntax_error::unsupported_tag(place, &tag));
            }
        }
        self.open.push(OpenCollection { start, anchor, is_flow, contents });
        Next::Event
    }

    /// Where a collection starts, after its anchor and tag; and whether it has brackets.
    fn collection_start(&mut self, bracket: u8, has_properties: bool, at: saphyr_parser::Span) -> (Position, bool) {
        let (start, end) = (pos(at.start), pos(at.end));
        if has_properties {
            let start = self.cursor.skip_properties(start);
            return (start, self.cursor.byte() == bracket && start < end);
        }
        // Brackets have a width, the start of a block has none.
        if start < end {
            return (start, true);
        }
        // A list may be written at the indentation of the key above it. Then the parser marks what follows its first dash.
        if let Some(OpenCollection { is_flow: false, contents: Contents::Mapping { .. }, start: above, .. }) =
            self.open.last()
            && bracket == b'['
            && start.line > above.line
        {
            let dash = Position { line: start.line, column: above.column };
            self.cursor.seek(dash);
            if self.cursor.pos() == dash && self.cursor.byte() == b'-' {
                return (dash, false);
            }
        }
        self.cursor.seek(start);
        (start, false)
    }

    fn end(&mut self, at: saphyr_parser::Span) -> Next {
        let Some(open) = self.open.pop() else {
            return Next::Event;
        };
        let mut end = open.start;
        let data = match open.contents {
            Contents::Sequence(items) => {
                if let Some(last) = items.last() {
                    end = after(&last.span, end);
                }
                Data::Sequence(items)
            }
            Contents::Mapping { mut entries, has_merge, .. } => {
                if let Some(last) = entries.last() {
                    end = after(&last.value.span, after(&last.key_span, end));
                }
                keys::drop_repeated(&mut entries, self.diagnostics);
                if has_merge {
                    entries = merge::apply(entries, self.diagnostics);
                }
                Data::Mapping(entries)
            }
        };
        if open.is_flow {
            let bracket = pos(at.start);
            end = Position { column: bracket.column + 1, ..bracket };
        }
        let span = self.span(open.start, end);
        self.place(Node { span, data }, open.anchor, false)
    }

    fn alias(&mut self, anchor: usize, at: saphyr_parser::Span) -> Next {
        let span = self.span(pos(at.start), pos(at.end));
        match self.anchors.copy(anchor, span, self.open.len(), &mut self.nodes) {
            Ok(node) => self.place(node, 0, false),
            Err(problem) => self.fail(problem),
        }
    }

    /// Adds a complete value to its collection.
    fn place(&mut self, node: Node, anchor: usize, is_merge: bool) -> Next {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return self.fail(too_many_nodes(node.span));
        }
        if anchor != 0
            && let Err(diagnostic) = self.anchors.keep(anchor, &node)
        {
            return self.fail(diagnostic);
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Next::Event;
        };
        match &mut open.contents {
            Contents::Sequence(items) => items.push(node),
            Contents::Mapping { entries, key, has_merge } => match key.take() {
                Some(key) => {
                    *has_merge |= key.is_merge;
                    entries.push(Entry { key: key.text, key_span: key.span, value: node });
                }
                None => {
                    let span = node.span;
                    match spell(node.data) {
                        Some(text) => *key = Some(Key { text, span, is_merge }),
                        None => return self.fail(syntax_error::complex_key(span)),
                    }
                }
            },
        }
        Next::Event
    }
}

fn pos(mark: Marker) -> Position {
    syntax_error::pos(&mark)
}

fn after(span: &Span, otherwise: Position) -> Position {
    match span.range {
        Some((_, end)) if end > otherwise => end,
        _ => otherwise,
    }
}

/// A scalar as a key, spelled as JavaScript would.
fn spell(data: Data) -> Option<String> {
    match data {
        Data::String(text) => Some(text),
        Data::Null => Some("null".to_owned()),
        Data::Bool(value) => Some(value.to_string()),
        Data::Number(value) => Some(number::as_key(&value)),
        Data::Sequence(_) | Data::Mapping(_) => None,
    }
}
