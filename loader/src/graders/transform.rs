//! `transform` of a grader: steps that change the answer before the grader sees it.

use evalsuite_schema::grader::{AnswerStep, ObjectStep, StepWord};
use evalsuite_schema::keys::Keys;

use crate::diagnostic::Diagnostics;
use crate::fields;
use crate::fields::Fields;
use crate::read::node::Node;

/// The steps in order; those with problems are left out.
pub(crate) fn read(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Vec<AnswerStep> {
    let Some(entry) = fields.get("transform") else { return Vec::new() };
    let steps = fields::list(&entry.value, "`transform`", d).unwrap_or_default();
    steps.iter().filter_map(|node| step(node, d)).collect()
}

fn step(node: &Node, d: &mut Diagnostics) -> Option<AnswerStep> {
    const WHAT: &str = "a step of `transform`";
    if node.as_mapping().is_some() {
        let mut fields = Fields::new(node, ObjectStep::TABLE, d)?;
        let path = fields.require("json", d).and_then(|entry| fields::string(&entry.value, "`json`", d));
        fields.finish(d);
        return path.map(AnswerStep::Json);
    }
    let word = fields::word(node, WHAT, StepWord::WORDS, d)?;
    let all = [StepWord::Trim, StepWord::Lowercase, StepWord::Uppercase];
    StepWord::WORDS.iter().position(|known| *known == word).map(|index| all[index].into())
}
