//! What StrictYAML does not have, which the reference reader of Agent Skills refuses.

use granit_parser::{Event, ScalarStyle, Span as Marks, StructureStyle};

use super::tree::Tree;
use super::{offset, pos};
use crate::diagnostic::Code;
use crate::source::{Position, Span};

/// What is wrong, and what to write.
type Refused = (&'static str, &'static str);

const TAB: Refused = ("a tab", "write spaces, or quote the text");

impl Tree<'_, '_> {
    /// Reports what StrictYAML refuses. What is in brackets is reported with the outermost ones.
    pub(super) fn check_strict(&mut self, event: &Event<'_>, at: Marks) {
        self.check_tabs(self.seen, offset(at.start), '#');
        let (problem, anchor, tag) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = *style == ScalarStyle::Plain;
                if is_plain {
                    self.check_tabs(offset(at.start), offset(at.end), '\n');
                }
                let is_special = is_plain && ["<<", "="].contains(&&**text) && !self.expects_key();
                (is_special.then_some(("this value", "quote it")), *anchor, tag.as_ref())
            }
            Event::MappingStart(style, anchor, tag) => {
                let brackets = ("a mapping in braces", "write each key on a line of its own, indented");
                ((*style == StructureStyle::Flow).then_some(brackets), *anchor, tag.as_ref())
            }
            Event::SequenceStart(style, anchor, tag) => {
                let brackets = ("a list in brackets", "write each element on a line of its own, after `- `");
                ((*style == StructureStyle::Flow).then_some(brackets), *anchor, tag.as_ref())
            }
            Event::Alias(_) => (Some(("an alias", "write the value itself")), 0, None),
            _ => return,
        };
        let problem = problem.filter(|_| !self.is_in_brackets());
        let anchor = (anchor != 0).then_some(("an anchor", "write the value where it is used"));
        let tag = tag.is_some().then_some(("a tag", "delete it: every value is text"));
        let span = self.span(pos(at.tag_start.unwrap_or(at.start)), pos(at.end));
        [problem, anchor, tag].into_iter().flatten().for_each(|refused| self.refuse(refused, span));
    }

    /// Reports the first tab between two bytes of the text, of each line up to `end`.
    fn check_tabs(&mut self, from: usize, to: usize, end: char) {
        let text = self.text;
        let Some(part) = text.get(from..to) else { return };
        let tab = |line: &str| line.split(end).next().unwrap_or_default().find('\t');
        let mut start = from;
        for line in part.split_inclusive('\n') {
            if let Some(at) = tab(line) {
                let before = &text[..start + at];
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                let place = Position {
                    line: u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX),
                    column: u32::try_from(column).unwrap_or(u32::MAX),
                };
                return self.refuse(TAB, Span::character(self.file, place));
            }
            start += line.len();
        }
    }

    fn refuse(&mut self, (what, help): Refused, span: Span) {
        let message = format!("{what}, which the reference reader of Agent Skills refuses");
        self.d.report(Code::UnportableSkill, span, message, help);
    }
}
