//! `preprocessors`: commands that turn output files into text.

use evalsuite_schema::grader::Preprocessor;

use crate::diagnostic::Diagnostics;
use crate::fields;
use crate::fields::paths::Scope;
use crate::fields::{Fields, command, label};
use crate::keys::judged::PREPROCESSOR;
use crate::read::node::{Entry, Node};

/// Reads `preprocessors`; entries with problems are reported and left out.
pub(crate) fn read(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Preprocessor> {
    let Some(items) = fields::list(&entry.value, &label(entry), d) else { return Vec::new() };
    items.iter().filter_map(|item| preprocessor(item, scope, d)).collect()
}

fn preprocessor(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Preprocessor> {
    let mut fields = Fields::new(node, &PREPROCESSOR, d)?;
    let media_type = fields.read_required("type", fields::literal_text, d);
    let command =
        fields.require("command", d).and_then(|entry| command::argv(&entry.value, "`command`", scope, None, d));
    fields.finish(d);
    Some(Preprocessor { media_type: media_type?, command: command? })
}
