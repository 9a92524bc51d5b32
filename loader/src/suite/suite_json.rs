//! `suite.json`.

use std::path::Path;

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Kind, Layout, Suite, SuiteJson};

use super::gates;
use crate::diagnostic::Diagnostics;
use crate::fields::Fields;
use crate::fields::paths::{Roots, Scope};
use crate::read;
use crate::source::{Files, Span};

pub(crate) fn read(path: &Path, layout: Layout, scope: Scope<'_>, d: &mut Diagnostics) -> Option<(Suite, SuiteJson)> {
    let (file, text) = read::read_text(path, scope.files, d)?;
    let root = read::parse_json(file, &text, d)?;
    let help = "write `{\"name\": …, \"agent_name\": …}`";
    let mut fields = Fields::of_root(&root, SuiteJson::TABLE, help, d)?;
    fields.get("$schema");
    let written: SuiteJson = fields.parts(scope, d).into_value_of_rest()?;
    let gates = fields.get("gates").map(|entry| gates::read(entry, &[], d)).unwrap_or_default();
    let has_kind = fields.get("kind").is_some();
    fields.finish(d);
    let trimmed = |name: &Option<String>| name.as_ref().map(|name| name.trim().to_owned());
    let mut suite = empty(trimmed(&written.name).unwrap_or_default(), layout, root.span, scope.roots, scope.files);
    suite.gates = gates;
    suite.agent_name = trimmed(&written.agent_name);
    // Nothing in the cases contradicts `capability`: a word that is no kind has no other consequences.
    suite.kind = written.kind.unwrap_or(if has_kind { Kind::Capability } else { Kind::Mixed });
    Some((suite, written))
}

/// A suite with a name, a layout and a place.
pub(crate) fn empty(name: String, layout: Layout, span: Span, roots: &Roots, files: &Files) -> Suite {
    let mut suite = Suite::new(name, layout, Kind::Capability, files.location(span));
    suite.root = roots.compiled(&roots.suite_root);
    suite
}
