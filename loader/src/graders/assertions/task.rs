//! `graders` of a task.

use evalsuite_schema::Object;
use evalsuite_schema::grader::keys::TaskGrader;
use evalsuite_schema::grader::{Grader, GraderConfig};

use super::ParsedGrader;
use crate::diagnostic::Diagnostics;
use crate::fields::Fields;
use crate::fields::paths::Scope;
use crate::graders::{GraderContext, GraderNotes, examples, transform};
use crate::keys::{Keys, TASK_GRADER_KEYS, Table};
use crate::read::node::{Data, Entry, Node};
use crate::{fields, graders};

/// Reads a list of `{name, config}`.
pub(crate) fn task_graders(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<ParsedGrader> {
    let Some(items) = fields::list(node, "`graders`", d) else {
        return vec![ParsedGrader::broken(node, scope)];
    };
    items.iter().map(|item| grader(item, scope, d).unwrap_or_else(|| ParsedGrader::broken(item, scope))).collect()
}

fn grader(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<ParsedGrader> {
    let mut fields = Fields::new(node, TaskGrader::TABLE, d)?;
    let name_entry = fields.require("name", d);
    let config_entry = fields.get("config");
    let examples = fields.get("examples").map(|entry| examples::read(entry, scope, d)).unwrap_or_default();
    fields.finish(d);
    let name_entry = name_entry?;
    let name = fields::text(&name_entry.value, "`name`", d)?;
    let mut notes = GraderNotes::default();
    let mut parsed = match graders::built_in(&name) {
        Some(known) => built_in(known, node, config_entry, (scope, &mut notes), d)?,
        None => {
            notes.users.push((name.clone(), name_entry.value.span));
            let config = match config_entry {
                Some(entry) => fields::object(&entry.value, "`config`", d)?,
                None => Object::new(),
            };
            Grader::new("", scope.files.location(node.span), GraderConfig::User { grader: name.clone(), config })
        }
    };
    (parsed.name, parsed.examples) = (name, examples);
    Some(ParsedGrader { named: Some(name_entry.value.span), notes, ..ParsedGrader::new(parsed, node.span) })
}

/// A built-in type; `config` has both its settings and those of every grader.
fn built_in(
    known: &'static Table,
    node: &Node,
    config: Option<&Entry>,
    (scope, notes): (Scope<'_>, &mut GraderNotes),
    d: &mut Diagnostics,
) -> Option<Grader> {
    let absent = Node { span: node.span, data: Data::Mapping(Vec::new()) };
    let settings = config.map_or(&absent, |entry| &entry.value);
    let mut fields = Fields::with_common(settings, known, TASK_GRADER_KEYS, d)?;
    let min_score = fields.get("min_score").and_then(|entry| graders::min_score(&entry.value, d));
    let negate = fields.read("negate", fields::boolean, d);
    let transform = transform::read(&mut fields, GraderContext::new(scope), d);
    let config = graders::settings(known, &mut fields, GraderContext::new(scope), notes, d);
    if !known.is_open {
        fields.finish(d);
    }
    let (min_score, negate) = (min_score.or(notes.pass_mark), negate.unwrap_or(false));
    let mut grader = Grader::new("", scope.files.location(node.span), config?);
    (grader.min_score, grader.negate, grader.transform) = (min_score, negate, transform);
    Some(grader)
}
