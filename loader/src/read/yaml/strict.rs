//! What StrictYAML does not have.

use granit_parser::{Event, Span as Marks, StructureStyle};

use super::tree::{Tree, pos};
use crate::diagnostic::Code;

impl Tree<'_, '_> {
    /// Reports what StrictYAML refuses. What is in brackets is reported with the outermost ones.
    pub(super) fn check_strict(&mut self, event: &Event<'_>, at: Marks) {
        let (style, anchor, tag) = match event {
            Event::Scalar(_, _, anchor, tag) => (None, *anchor, tag.as_ref()),
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
        let style = style.filter(|_| !self.is_in_brackets());
        let anchor = (anchor != 0).then_some(("an anchor", "write the value where it is used"));
        let tag = tag.is_some().then_some(("a tag", "delete it: every value is text"));
        for (what, help) in [style, anchor, tag].into_iter().flatten() {
            let start = pos(at.tag_start.unwrap_or(at.start));
            let message = format!("{what}, which the reference reader of Agent Skills refuses");
            self.d.report(Code::UnportableSkill, self.span(start, pos(at.end)), message, help);
        }
    }
}
