//! `suite.json`: which of two layouts it belongs to, and what it says.

use std::path::Path;

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Layout, Suite, SuiteJson, SuiteKind};

use super::{ReadOutline, new_suite};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::Scope;
use crate::fields::{self, Fields};
use crate::read;
use crate::source::{Files, Span};
use crate::suite::cross_check;

/// The layouts with this file: the directory next to it that shows which one it is, and the function.
const LAYOUTS: &[(&str, Layout, ReadOutline)] = &[
    (super::tasks::DIRECTORY, Layout::Tasks, super::tasks::outline),
    (super::combined::DIRECTORY, Layout::Combined, super::combined::outline),
];

/// The layout of a suite with this file, and its function.
pub(super) fn layout(path: &Path, files: &Files, d: &mut Diagnostics) -> Option<(Layout, ReadOutline)> {
    let root = path.parent().unwrap_or(path);
    // Exact names, also where the file system does not care.
    let exists = |wanted: &str| {
        std::fs::read_dir(root)
            .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name() == wanted && entry.path().is_dir()))
    };
    let mut found = LAYOUTS.iter().filter(|(directory, ..)| exists(directory));
    let (message, help) = match (found.next(), found.next()) {
        (Some((_, layout, outline)), None) => return Some((*layout, *outline)),
        (Some(_), Some(_)) => ("both `tasks/` and `cases/` exist next to `suite.json`", "keep one of them"),
        (None, _) => (
            "neither `tasks/` nor `cases/` exists next to `suite.json`",
            "create `tasks/` with one JSON file per task, or `cases/` with one directory per case",
        ),
    };
    d.report(Code::AmbiguousLayout, Span::whole(files.add(path)), message, help);
    None
}

pub(super) fn read(path: &Path, layout: Layout, scope: Scope<'_>, d: &mut Diagnostics) -> Option<(Suite, SuiteJson)> {
    let (file, text) = read::read_text(path, scope.files, d)?;
    let root = read::parse_json(file, &text, d)?;
    let help = "write `{\"name\": …, \"agent_name\": …}`";
    let mut fields = Fields::of_root(&root, SuiteJson::TABLE, help, d)?;
    fields.get("$schema");
    let written: SuiteJson = fields.parts(scope, d).into_value_of_rest()?;
    let gates = fields.get("gates").map(|entry| cross_check::read_gates(entry, &[], d)).unwrap_or_default();
    let canary = fields.get("canary").and_then(|entry| fields::canary(entry, d));
    let has_kind = fields.get("kind").is_some();
    fields.finish(d);
    let trimmed = |name: &Option<String>| name.as_ref().map(|name| name.trim().to_owned());
    let mut suite = new_suite(trimmed(&written.name).unwrap_or_default(), layout, root.span, scope);
    (suite.gates, suite.canary) = (gates, canary);
    suite.agent_name = trimmed(&written.agent_name);
    // Nothing in the cases contradicts `capability`: a word that is no kind has no other consequences.
    suite.kind = written.kind.unwrap_or(if has_kind { SuiteKind::Capability } else { SuiteKind::Mixed });
    Some((suite, written))
}
