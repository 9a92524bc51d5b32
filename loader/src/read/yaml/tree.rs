//! From the events of the YAML parser to a tree.

use std::borrow::Cow;

use granit_parser::{Event, ScalarStyle, Span as Marks, StructureStyle, Tag};

use super::anchors::{Anchors, too_many_nodes};
use super::scalar::Problem;
use super::{anchors, offset, other_notations, pos, scalar, syntax_error};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::read::node::{Data, Entry, Foreign, Node};
use crate::read::{self, MAX_DEPTH, MAX_NODES, node};
use crate::source::{FileId, Position, Span, position_after};

type Result<T = ()> = std::result::Result<T, Diagnostic>;

/// Builds nodes from the events of the parser.
pub(super) struct Tree<'a, 't> {
    pub(super) file: FileId,
    pub(super) text: &'t str,
    /// What values scalars have. `None`: every scalar is text, and what StrictYAML refuses is reported.
    resolve: Option<scalar::Resolve>,
    pub(super) d: &'a mut Diagnostics,
    /// Collections that have started and not ended, the root first.
    open: Vec<OpenCollection>,
    pub(super) root: Option<Node>,
    anchors: Anchors,
    /// The byte up to which the text is in the tree.
    pub(super) seen: usize,
    /// Values so far, aliases expanded.
    nodes: usize,
    /// Something was reported that leaves no tree to check.
    failed: bool,
}

/// A collection that has started and not ended.
struct OpenCollection {
    start: Position,
    /// The parser's number of its anchor, 0 for none.
    anchor: usize,
    is_flow: bool,
    /// The column of the innermost collection without brackets that is this one or around it, 0 for none.
    block_column: u32,
    contents: Contents,
}

enum Contents {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, key: Option<(String, Span)>, has_merge: bool },
}

impl<'a, 't> Tree<'a, 't> {
    pub(super) fn new(file: FileId, text: &'t str, resolve: Option<scalar::Resolve>, d: &'a mut Diagnostics) -> Self {
        Self {
            file,
            resolve,
            text,
            d,
            open: Vec::new(),
            root: None,
            anchors: Anchors::default(),
            seen: 0,
            nodes: 0,
            failed: false,
        }
    }

    fn is_strict(&self) -> bool {
        self.resolve.is_none()
    }

    /// The root, `Null` if the document is empty; `None` if something was reported that leaves no tree to check.
    pub(super) fn finish(self) -> Option<Node> {
        let nothing = Node { span: Span::new(self.file, Position::START, Position::START), data: Data::Null };
        if self.failed { None } else { Some(self.root.unwrap_or(nothing)) }
    }

    /// Where the innermost collection in brackets starts that is still open.
    pub(super) fn open_bracket(&self) -> Option<Position> {
        self.open.iter().rev().find(|open| open.is_flow).map(|open| open.start)
    }

    /// Whether what comes next is in brackets.
    pub(super) fn is_in_brackets(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_flow)
    }

    /// How many collections without brackets are open.
    pub(super) fn depth_without_brackets(&self) -> usize {
        self.open.iter().filter(|open| !open.is_flow).count()
    }

    /// Reports the start of another document, and leaves it out.
    pub(super) fn finish_before_document(self, at: Marks) -> Option<Node> {
        let span = self.span(pos(at.start), pos(at.end));
        let help = "write one document per file, without a `---` in between";
        self.d.report(Code::MultipleDocuments, span, "second YAML document", help);
        self.finish()
    }

    pub(super) fn accept(&mut self, event: Event<'_>, at: Marks) -> Result {
        if self.is_strict() {
            self.check_strict(&event, at);
        }
        self.seen = offset(at.end);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_merge = !self.is_strict()
                    && style == ScalarStyle::Plain
                    && tag.is_none()
                    && text == anchors::KEY
                    && self.expects_key();
                let node = self.scalar(text, style, tag.as_deref(), at)?;
                self.place(node, anchor, is_merge)
            }
            Event::MappingStart(style, anchor, tag) => {
                let contents = Contents::Mapping { entries: Vec::new(), key: None, has_merge: false };
                self.start(style == StructureStyle::Flow, anchor, tag.as_deref(), contents, at)
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.start(style == StructureStyle::Flow, anchor, tag.as_deref(), Contents::Sequence(Vec::new()), at)
            }
            Event::MappingEnd | Event::SequenceEnd => self.end(at),
            Event::Alias(anchor) => self.alias(anchor, at),
            _ => Ok(()),
        }
    }

    pub(super) fn span(&self, start: Position, end: Position) -> Span {
        Span::new(self.file, start, end)
    }

    fn character(&self, start: Position) -> Span {
        Span::character(self.file, start)
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>, at: Marks) -> Result<Node> {
        let start = pos(at.tag_start.unwrap_or(at.start));
        let mut end = pos(at.end);
        match style {
            ScalarStyle::Literal | ScalarStyle::Folded => end = self.end_of_block(at),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted if start.line < end.line => {
                if let Some(problem) = self.quoted_problem(at) {
                    return Err(problem);
                }
            }
            _ => {}
        }
        let span = self.span(start, end);
        if self.is_indented_less(start) {
            return Err(syntax_error::indented_less(self.character(start)));
        }
        let value = match self.resolve {
            // The parser has `~` where nothing is written.
            None if style == ScalarStyle::Plain && at.slice(self.text).is_none_or(str::is_empty) => {
                Ok(Data::String(String::new()))
            }
            None => Ok(scalar::string(text)),
            Some(resolve) => resolve(text, style, tag),
        };
        let data = match value {
            Ok(data) => data,
            Err(Problem::NotFinite) => {
                let problem = Diagnostic::new(Code::WrongType, "the number is not finite");
                self.d.push(problem.at(span).help("quote it if it is meant as text"));
                self.failed = true;
                Data::Null
            }
            Err(Problem::Mismatch(expected)) => return Err(syntax_error::wrong_tag(span, expected)),
            Err(Problem::UnsupportedTag(tag)) => return Err(syntax_error::unsupported_tag(span, &tag)),
        };
        if let (ScalarStyle::Plain, Data::String(text)) = (style, &data) {
            self.check_comment_after(span, offset(at.end));
            if let Some(problem) = other_notations::curly_quotes(text, span).filter(|_| !self.expects_key()) {
                self.d.push(problem);
            }
        }
        Ok(Node { span, data })
    }

    /// A `#` before a letter or digit rarely starts a comment: `Order #1182 arrived` is the text `Order`.
    fn check_comment_after(&mut self, span: Span, end: usize) {
        let rest = &self.text[end..];
        // Nearly every text ends its line.
        if !rest.starts_with([' ', '\t']) {
            return;
        }
        let Some(comment) = rest.trim_start_matches([' ', '\t']).strip_prefix('#') else { return };
        if comment.starts_with(char::is_alphanumeric) {
            let word = comment.split(char::is_whitespace).next().unwrap_or_default();
            let message = format!("the text ends before `#{word}`, which is a comment");
            let help = "quote the text, or write a space after the `#` of a comment";
            self.d.push(Diagnostic::new(Code::TextCutByComment, message).at(span).help(help));
        }
    }

    /// Brackets may end where the key or dash that they belong to starts; what is in them is indented deeper. The parser lets
    /// everything pass, as PyYAML does; YAML does not allow it, and mostly a bracket is missing there.
    fn is_indented_less(&self, start: Position) -> bool {
        self.open.last().is_some_and(|open| open.is_flow && start.column <= open.block_column)
    }

    /// The same for further lines of a text in quotes.
    fn quoted_problem(&self, at: Marks) -> Option<Diagnostic> {
        let block_column = self.open.last()?.block_column;
        for (line, number) in at.slice(self.text)?.lines().zip(pos(at.start).line..).skip(1) {
            let rest = line.trim_start_matches(' ');
            let column = block_column.min(u32::try_from(line.len() - rest.len()).unwrap_or(u32::MAX)) + 1;
            if column <= block_column && !rest.trim().is_empty() {
                let tab = self.character(Position { line: number, column });
                let is_tab = rest.starts_with('\t');
                let quote = self.character(pos(at.start));
                return Some(if is_tab { syntax_error::tab(tab) } else { syntax_error::unclosed_quotes(quote) });
            }
        }
        None
    }

    /// The end of the last line of a block of text that is not blank: the parser's is in a line below.
    fn end_of_block(&self, at: Marks) -> Position {
        let block = at.slice(self.text).unwrap_or_default().trim_end_matches([' ', '\t', '\n', '\r']);
        position_after(block, pos(at.start))
    }

    pub(super) fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(OpenCollection { contents: Contents::Mapping { key: None, .. }, .. }))
    }

    fn start(&mut self, is_flow: bool, anchor: usize, tag: Option<&Tag>, contents: Contents, at: Marks) -> Result {
        let is_sequence = matches!(contents, Contents::Sequence(_));
        let start = if is_sequence && !is_flow { self.first_dash(at) } else { pos(at.start) };
        let place = self.character(start);
        if self.open.len() == MAX_DEPTH {
            return Err(read::too_deep(place));
        }
        if !is_flow && self.text[..offset(at.start)].ends_with('\t') {
            let tab = Position { column: start.column - 1, ..start };
            return Err(syntax_error::tab(self.span(tab, start)));
        }
        if self.is_indented_less(start) {
            return Err(syntax_error::indented_less(place));
        }
        if self.expects_key() {
            return Err(syntax_error::complex_key(place));
        }
        if let Some(tag) = tag.and_then(|tag| self.unsupported_tag(tag, if is_sequence { "seq" } else { "map" })) {
            return Err(syntax_error::unsupported_tag(place, &tag));
        }
        let outer = self.open.last().map_or(0, |open| open.block_column);
        let block_column = if is_flow { outer } else { start.column };
        self.open.push(OpenCollection { start, anchor, is_flow, block_column, contents });
        Ok(())
    }

    /// The tag of a collection, unless it is `expected`, or one that scalars can have without a meaning.
    fn unsupported_tag(&self, tag: &Tag, expected: &str) -> Option<String> {
        let resolve = self.resolve?;
        match scalar::core_name(tag) {
            Some(name) => (name != expected).then(|| format!("!!{name}")),
            None => match resolve(Cow::Borrowed(""), ScalarStyle::Plain, Some(tag)) {
                Err(Problem::UnsupportedTag(tag)) => Some(tag),
                _ => None,
            },
        }
    }

    /// Where a list of dashes starts. The parser marks what follows the first dash of one that is written at the indentation of
    /// the key above it.
    fn first_dash(&self, at: Marks) -> Position {
        let start = pos(at.start);
        match self.open.last() {
            Some(OpenCollection { is_flow: false, contents: Contents::Mapping { .. }, start: above, .. })
                if start.line > above.line && !self.text[offset(at.start)..].starts_with('-') =>
            {
                Position { column: above.column, ..start }
            }
            _ => start,
        }
    }

    fn end(&mut self, at: Marks) -> Result {
        let Some(open) = self.open.pop() else { return Ok(()) };
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
                node::drop_repeated(&mut entries, self.d);
                if has_merge {
                    entries = anchors::apply(entries, self.d);
                }
                Data::Mapping(entries)
            }
        };
        if open.is_flow {
            let bracket = pos(at.start);
            end = Position { column: bracket.column + 1, ..bracket };
            if bracket.column < open.block_column {
                return Err(syntax_error::indented_less(self.span(bracket, end)));
            }
        }
        let span = self.span(open.start, end);
        self.place(Node { span, data }, open.anchor, false)
    }

    fn alias(&mut self, anchor: usize, at: Marks) -> Result {
        let span = self.span(pos(at.start), pos(at.end));
        let node = self.anchors.copy(anchor, span, self.open.len(), &mut self.nodes)?;
        self.place(node, 0, false)
    }

    /// Adds a complete value to its collection.
    fn place(&mut self, node: Node, anchor: usize, is_merge: bool) -> Result {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(too_many_nodes(node.span));
        }
        if anchor != 0 {
            self.anchors.keep(anchor, &node)?;
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.contents {
            Contents::Sequence(items) => items.push(node),
            Contents::Mapping { entries, key, has_merge } => match key.take() {
                Some((key, key_span)) => entries.push(Entry { key, key_span, value: node }),
                None => {
                    *has_merge |= is_merge;
                    let text = spell(node.data).ok_or_else(|| syntax_error::complex_key(node.span))?;
                    *key = Some((text, node.span));
                }
            },
        }
        Ok(())
    }
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
        Data::Number(value) => Some(scalar::as_key(&value)),
        Data::Foreign(Foreign::NotFinite(value)) => Some(scalar::name_of_not_finite(value).to_owned()),
        Data::Sequence(_) | Data::Mapping(_) | Data::Foreign(Foreign::Date(_)) => None,
    }
}
