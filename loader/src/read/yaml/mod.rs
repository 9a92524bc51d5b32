//! YAML 1.2, core schema, with merge keys: the tree is built from the events of `granit-parser`, whose errors have types.

mod anchors;
#[cfg(feature = "documents")]
mod js_scalar;
mod other_notations;
pub(super) mod scalar;
mod strict;
mod syntax_error;
mod tree;

use granit_parser::{ErrorKind, Event, Marker, Parser, options};

use self::syntax_error::TextOffset;
use self::tree::Tree;
use super::MAX_DEPTH;
use crate::diagnostic::Diagnostics;
use crate::read::node::Node;
use crate::source::{FileId, Position, Span};

/// The tree of a YAML document; `Null` for an empty one.
///
/// `None` if there is no tree to check: the text is not YAML, it exceeds a limit, or it has a number that no tree can
/// hold. Repeated keys (the first stays), merge keys that cannot be merged (left out) and a second document (left out) are
/// reported as well, but what is left can be checked.
pub(crate) fn parse_yaml(file: FileId, text: &str, d: &mut Diagnostics) -> Option<Node> {
    parse(file, text, Some(scalar::resolve), d)
}

/// The same with the values that js-yaml gives to scalars: dates, infinities, and texts for numbers that are too large.
#[cfg(feature = "documents")]
pub(crate) fn parse_js_yaml(file: FileId, text: &str, d: &mut Diagnostics) -> Option<Node> {
    parse(file, text, Some(js_scalar::resolve), d)
}

/// The same for YAML whose scalars are all text, as those of StrictYAML. What StrictYAML refuses is a warning.
pub(crate) fn parse_texts(file: FileId, text: &str, d: &mut Diagnostics) -> Option<Node> {
    parse(file, text, None, d)
}

fn parse(file: FileId, text: &str, resolve: Option<scalar::Resolve>, d: &mut Diagnostics) -> Option<Node> {
    let parser = |levels| {
        let options = options! { emit_comments: false, flow_nesting_limit: levels };
        Parser::new_from_str_with_options(text, options)
    };
    let (mut events, mut tree) = (parser(MAX_DEPTH), Tree::new(file, text, resolve, d));
    let problem = loop {
        match events.next_event() {
            Some(Ok((Event::StreamEnd, _))) | None => {
                let root = tree.finish();
                let is_text = root.as_ref().is_some_and(|root| root.as_str().is_some());
                match is_text.then(|| TextOffset::at_end(file, text).key_without_blank()).flatten() {
                    Some(problem) => break problem,
                    None => return root,
                }
            }
            Some(Ok((Event::DocumentStart(..), span))) if tree.root.is_some() => {
                return tree.finish_before_document(span);
            }
            Some(Ok((event, span))) => {
                if let Err(problem) = tree.accept(event, span) {
                    break problem;
                }
            }
            Some(Err(error)) if *error.kind() == ErrorKind::RecursionLimitExceeded => {
                // The parser counts brackets only, and has read them before the tree sees the first.
                let brackets = MAX_DEPTH - tree.depth_without_brackets();
                let error = parser(brackets).find_map(Result::err).unwrap_or(error);
                break super::too_deep(Span::character(file, pos(*error.marker())));
            }
            Some(Err(error)) => {
                let end = TextOffset::at_end(file, text);
                break syntax_error::diagnostic(end, tree.seen, tree.open_bracket(), &error);
            }
        }
    };
    d.push(problem);
    None
}

#[allow(clippy::cast_possible_truncation)] // Files are far smaller than 4 GiB.
fn pos(mark: Marker) -> Position {
    // The parser counts columns from 0.
    Position { line: mark.line() as u32, column: mark.col() as u32 + 1 }
}

/// The byte of a mark: the parser knows it for every text that is in memory.
fn offset(mark: Marker) -> usize {
    mark.byte_offset().unwrap_or_default()
}

/// The comments of a text that is YAML, without the `#` and a space after it, each with the position of its `#`.
#[cfg(feature = "documents")]
pub(crate) fn yaml_comments(text: &str) -> impl Iterator<Item = (Position, String)> {
    let options = options! { max_buffered_comment_events: usize::MAX };
    Parser::new_from_str_with_options(text, options).map_while(Result::ok).filter_map(|(event, span)| match event {
        Event::Comment(comment, _) => {
            Some((pos(span.start), comment.strip_prefix(' ').unwrap_or(&comment).trim_end().to_owned()))
        }
        _ => None,
    })
}
