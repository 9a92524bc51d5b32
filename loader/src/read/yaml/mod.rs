//! YAML 1.2, core schema, with merge keys: the tree is built from the events of `granit-parser`, whose errors have types.

mod anchors;
mod escape;
mod merge;
mod other_notations;
pub(super) mod scalar;
mod syntax_error;
mod tree;

use granit_parser::{ErrorKind, Event, Parser, options};

use self::other_notations::Places;
use self::tree::{Tree, pos};
use super::MAX_DEPTH;
use crate::diagnostic::Diagnostics;
use crate::read::node::Node;
use crate::source::{FileId, Position, Span};

/// The tree of a YAML document; `Null` for an empty one.
///
/// `None` if there is no tree to check: the text is not YAML, it exceeds a limit, or it has a number that no tree can
/// hold. Repeated keys (the first stays), merge keys that cannot be merged (left out) and a second document (left out) are
/// reported as well, but what is left can be checked.
pub(crate) fn parse_yaml(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    let options = options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
    };
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut tree = Tree::new(file, text, diagnostics);
    loop {
        let error = match parser.next_event() {
            Some(Ok((Event::StreamEnd, _))) | None => {
                let root = tree.finish();
                let is_text = root.as_ref().is_some_and(|root| root.as_str().is_some());
                let problem = is_text.then(|| Places { file, text }.key_without_blank(text.trim_end().len())).flatten();
                return match problem {
                    Some(problem) => {
                        diagnostics.push(problem);
                        None
                    }
                    None => root,
                };
            }
            Some(Ok((Event::DocumentStart(..), span))) if tree.root.is_some() => {
                return tree.finish_before_document(span);
            }
            Some(Ok((event, span))) => match tree.accept(event, span) {
                Ok(()) => continue,
                Err(problem) => {
                    diagnostics.push(problem);
                    return None;
                }
            },
            Some(Err(error)) => error,
        };
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            // The parser counts brackets only, and has read them before the tree sees the first.
            let options =
                options! { emit_comments: false, flow_nesting_limit: MAX_DEPTH - tree.depth_without_brackets() };
            let error = Parser::new_from_str_with_options(text, options).find_map(Result::err).unwrap_or(error);
            let start = pos(*error.marker());
            let bracket = Span::new(file, start, Position { column: start.column + 1, ..start });
            diagnostics.push(super::too_deep(bracket));
            return None;
        }
        let (opened, seen) = (tree.open_bracket(), tree.seen());
        diagnostics.push(syntax_error::diagnostic(file, text, &error, opened, seen));
        return None;
    }
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
