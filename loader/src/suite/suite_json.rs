//! `suite.json`.

use std::path::Path;

use evalsuite_schema::{Kind, Layout, Location, Suite};

use crate::{
    diagnostic::{Code, Diagnostics},
    fields::{self, Fields, paths::Roots},
    read,
    source::{Files, Span},
};

pub(crate) const KINDS: &[(&str, Kind)] =
    &[("capability", Kind::Capability), ("regression", Kind::Regression), ("mixed", Kind::Mixed)];

/// The contents of `suite.json`.
#[derive(Debug)]
pub(crate) struct SuiteJson {
    pub(crate) suite: Suite,
    pub(crate) require_reference_solution: bool,
    pub(crate) task_pass_threshold: Option<f64>,
}

pub(crate) fn read(
    path: &Path,
    layout: Layout,
    roots: &Roots,
    files: &Files,
    d: &mut Diagnostics,
) -> Option<SuiteJson> {
    let (file, text) = read::read_text(path, files, d)?;
    let root = read::parse_json(file, &text, d)?;
    if root.as_mapping().is_none() {
        d.report(
            Code::RootNotMapping,
            root.span,
            format!("expected a mapping, found {}", root.kind()),
            "write `{\"name\": …, \"agent_name\": …}`",
        );
        return None;
    }
    let mut fields = Fields::new(&root, "suite.json", d)?;
    fields.get("$schema");
    let name = fields.require("name", d).and_then(|entry| fields::text(&entry.value, "`name`", d));
    let agent_name = fields.require("agent_name", d).and_then(|entry| fields::text(&entry.value, "`agent_name`", d));
    let kind = match fields.get("kind") {
        // Nothing in the cases contradicts this kind: a word that is none of them has no other consequences.
        Some(entry) => fields::choice(&entry.value, "`kind`", KINDS, d).unwrap_or(Kind::Capability),
        None => Kind::Mixed,
    };
    let require_reference_solution = fields
        .get_either("requireReferenceSolution", "require_reference_solution", d)
        .and_then(|entry| fields::boolean(&entry.value, &fields::label(entry), d))
        .unwrap_or(false);
    let task_pass_threshold = fields
        .get_either("taskPassThreshold", "task_pass_threshold", d)
        .and_then(|entry| fields::fraction(&entry.value, &fields::label(entry), d));
    fields.finish(d);
    let suite = Suite {
        agent_name: agent_name.map(|name| name.trim().to_owned()),
        kind,
        ..empty(name.unwrap_or_default().trim().to_owned(), layout, root.span, roots, files)
    };
    Some(SuiteJson { suite, require_reference_solution, task_pass_threshold })
}

/// A suite with a name, a layout and a place.
pub(crate) fn empty(name: String, layout: Layout, span: Span, roots: &Roots, files: &Files) -> Suite {
    let start = span.start();
    let location = match span.range {
        Some(_) => Location::new(&*files.get(span.file).shown, start.line, start.column),
        None => Location::new(&*files.get(span.file).shown, 0, 0),
    };
    Suite { root: roots.compiled(&roots.suite_root), ..Suite::new(name, layout, Kind::Capability, location) }
}
