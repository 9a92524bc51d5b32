//! `suite.json`.

use std::path::Path;

use evalsuite_schema::{Kind, Layout, Suite};

use super::gates;
use crate::diagnostic::Diagnostics;
use crate::fields::Fields;
use crate::fields::paths::Roots;
use crate::keys::suite::{KINDS, SUITE_JSON};
use crate::source::{Files, Span};
use crate::{fields, read};

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
    let help = "write `{\"name\": …, \"agent_name\": …}`";
    let mut fields = Fields::of_root(&root, &SUITE_JSON, help, d)?;
    fields.get("$schema");
    let name = fields.read_required("name", fields::text, d);
    let agent_name = fields.read_required("agent_name", fields::text, d);
    let kind = match fields.get("kind") {
        // Nothing in the cases contradicts this kind: a word that is none of them has no other consequences.
        Some(entry) => fields::choice(&entry.value, "`kind`", KINDS, d).unwrap_or(Kind::Capability),
        None => Kind::Mixed,
    };
    let require_reference_solution = fields
        .get_either("requireReferenceSolution", d)
        .and_then(|entry| fields::boolean(&entry.value, &fields::label(entry), d))
        .unwrap_or(false);
    let task_pass_threshold = fields
        .get_either("taskPassThreshold", d)
        .and_then(|entry| fields::fraction(&entry.value, &fields::label(entry), d));
    let gates = fields.get("gates").map(|entry| gates::read(entry, &[], d)).unwrap_or_default();
    fields.finish(d);
    let mut suite = empty(name.unwrap_or_default().trim().to_owned(), layout, root.span, roots, files);
    suite.gates = gates;
    suite.agent_name = agent_name.map(|name| name.trim().to_owned());
    suite.kind = kind;
    Some(SuiteJson { suite, require_reference_solution, task_pass_threshold })
}

/// A suite with a name, a layout and a place.
pub(crate) fn empty(name: String, layout: Layout, span: Span, roots: &Roots, files: &Files) -> Suite {
    let mut suite = Suite::new(name, layout, Kind::Capability, files.location(span));
    suite.root = roots.compiled(&roots.suite_root);
    suite
}
