//! What `suite.json` says, which two layouts have.

use std::path::Path;

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Layout, Suite, SuiteJson, SuiteKind};

use super::new_suite;
use crate::diagnostic::Diagnostics;
use crate::fields::paths::Scope;
use crate::fields::{self, Fields};
use crate::read;
use crate::suite::cross_check;

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
