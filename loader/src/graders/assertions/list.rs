//! One list: strings become one grader, includes their templates' entries, mappings a grader each.

use evalsuite_schema::grader::{Criterion, Grader, GraderConfig, Rubrics};

use super::{ParsedGrader, entry, include};
use crate::diagnostic::{Code, Diagnostics};
use crate::graders::{GraderContext, plain_criterion};
use crate::read::node::{Data, Node};
use crate::source::Span;
use crate::{fields, fields::vars, graders};

/// What the plain strings of a list become.
#[derive(Clone, Copy)]
struct StringGroup {
    name: &'static str,
    id: &'static str,
    is_required: bool,
}

const RUBRICS: StringGroup = StringGroup { name: "rubrics", id: "rubric", is_required: true };
const TURN_RUBRICS: StringGroup = StringGroup { name: "turn-rubrics", id: "criterion", is_required: false };

/// Reads a list of assertions.
pub(crate) fn read_list(node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) -> Vec<ParsedGrader> {
    read(node, "`assertions`", RUBRICS, cx, d)
}

/// Reads the list of a turn, whose strings are weighed against each other, but none is required. Messages call it `what`.
pub(super) fn read_turn(node: &Node, what: &str, cx: GraderContext<'_>, d: &mut Diagnostics) -> Vec<ParsedGrader> {
    let mut parsed = read(node, what, TURN_RUBRICS, cx, d);
    for parsed in &mut parsed {
        if parsed.grader.name == TURN_RUBRICS.name && parsed.named.is_none() {
            parsed.grader.weight = 1.0;
        }
    }
    parsed
}

fn read(node: &Node, what: &str, group: StringGroup, cx: GraderContext<'_>, d: &mut Diagnostics) -> Vec<ParsedGrader> {
    let Some(items) = fields::list(node, what, d) else {
        return vec![ParsedGrader::broken(node, cx.scope)];
    };
    let parsed = Vec::with_capacity(items.len());
    let mut reading = Reading { parsed, criteria: Vec::new(), position: None, references: Vec::new(), group };
    reading.read(items, cx, d);
    reading.finish(cx)
}

struct Reading {
    parsed: Vec<ParsedGrader>,
    criteria: Vec<Criterion>,
    /// Index among the graders and place of the first string.
    position: Option<(usize, Span)>,
    /// References to variables in the strings.
    references: Vec<(String, Span)>,
    group: StringGroup,
}

impl Reading {
    fn read(&mut self, items: &[Node], cx: GraderContext<'_>, d: &mut Diagnostics) {
        for item in items {
            let first = self.parsed.len();
            match &item.data {
                Data::String(text) => self.criterion(text, item, cx, d),
                Data::Mapping(_) => match include::name(item) {
                    Some(name) => {
                        let found = include::expand(name, cx, d, |items, cx, d| self.read(items, cx, d));
                        if found.is_none() {
                            self.parsed.push(ParsedGrader::broken(item, cx.scope));
                        }
                    }
                    None => self.parsed.push(entry::read(item, cx, d)),
                },
                _ => self.parsed.push(
                    fields::wrong_type(item, "an assertion", "text or a mapping", d)
                        .unwrap_or_else(|| ParsedGrader::broken(item, cx.scope)),
                ),
            }
            if cx.scope.vars.is_none() {
                let of_this_item = self.parsed[first..].first_mut().map(|parsed| &mut parsed.notes.references);
                vars::references("", item, of_this_item.unwrap_or(&mut self.references));
            }
        }
    }

    fn criterion(&mut self, text: &str, node: &Node, cx: GraderContext<'_>, d: &mut Diagnostics) {
        let text = text.trim();
        if text.is_empty() {
            d.report(Code::BlankValue, node.span, "blank assertion", "write the criterion or delete the line");
            self.parsed.push(ParsedGrader::broken(node, cx.scope));
            return;
        }
        if let Some(name) = grader_at_start(text) {
            d.report(
                Code::GraderLikeCriterion,
                node.span,
                format!("a judge decides about this text; it is not the grader `{name}`"),
                format!("write `{{ type: {name}, … }}` for the grader, or start the criterion with another word"),
            );
        }
        self.position.get_or_insert((self.parsed.len(), node.span));
        let id = format!("{}-{}", self.group.id, self.criteria.len() + 1);
        self.criteria.push(plain_criterion(id, text.to_owned(), self.group.is_required));
    }

    fn finish(mut self, cx: GraderContext<'_>) -> Vec<ParsedGrader> {
        if let Some((index, span)) = self.position {
            #[allow(clippy::cast_precision_loss, reason = "a list has fewer than 2^52 strings")]
            let weight = self.criteria.len() as f64;
            let config = GraderConfig::Rubrics(Rubrics { criteria: self.criteria, ..Rubrics::default() });
            let mut grader = Grader::new(self.group.name, cx.scope.files.location(span), config);
            grader.weight = weight;
            let mut parsed = ParsedGrader::new(grader, span);
            parsed.notes.references = self.references;
            self.parsed.insert(index, parsed);
        }
        self.parsed
    }
}

/// The built-in type that a text starts with, as a grader would be written. Words that begin sentences, such as `cost`, are
/// one only before a colon.
fn grader_at_start(text: &str) -> Option<&'static str> {
    const COMPARING: [&str; 4] = ["contains", "icontains", "equals", "regex"];
    let end = text.find(|character: char| character == ':' || character.is_whitespace()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let name = graders::built_in(word)?.id;
    (rest.starts_with(':') || name.contains('-') || COMPARING.contains(&name)).then_some(name)
}
