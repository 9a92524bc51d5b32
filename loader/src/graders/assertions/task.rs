//! `graders` of a task.

use evalsuite_schema::Object;
use evalsuite_schema::grader::keys::TaskGrader;
use evalsuite_schema::grader::{Grader, GraderConfig};

use super::{ParsedGrader, entry};
use crate::diagnostic::Diagnostics;
use crate::fields::Fields;
use crate::fields::paths::Scope;
use crate::graders::{GraderContext, GraderNotes, examples};
use crate::keys::{Keys, TASK_GRADER_KEYS, Table};
use crate::read::node::{Data, Node};
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
    let mut grader = Grader::new("", scope.files.location(node.span), GraderConfig::IsJson);
    match graders::built_in(&name) {
        Some(known) => {
            let absent = Node { span: node.span, data: Data::Mapping(Vec::new()) };
            let settings = config_entry.map_or(&absent, |entry| &entry.value);
            grader.config = built_in(known, settings, &mut grader, &mut notes, GraderContext::new(scope), d)?;
            graders::check_decision(&grader, settings, d);
        }
        None => {
            notes.users.push((name.clone(), name_entry.value.span));
            let config = config_entry.map(|entry| fields::object(&entry.value, "`config`", d));
            grader.config =
                GraderConfig::User { grader: name.clone(), config: config.unwrap_or_else(|| Some(Object::new()))? };
        }
    }
    (grader.name, grader.examples) = (name, examples);
    Some(ParsedGrader { named: Some(name_entry.value.span), notes, ..ParsedGrader::new(grader, node.span) })
}

/// A built-in type; `settings` has both its settings and those of every grader.
fn built_in(
    known: &'static Table,
    settings: &Node,
    grader: &mut Grader,
    notes: &mut GraderNotes,
    cx: GraderContext<'_>,
    d: &mut Diagnostics,
) -> Option<GraderConfig> {
    let mut fields = Fields::new(settings, known, d)?.with_common(TASK_GRADER_KEYS);
    entry::read_changes(grader, &mut fields, cx, d);
    let config = graders::settings(known, &mut fields, cx, notes, d);
    if !known.is_open {
        fields.finish(d);
    }
    grader.min_score = grader.min_score.or(notes.pass_mark);
    config
}
