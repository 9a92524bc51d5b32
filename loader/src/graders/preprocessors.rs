//! `preprocessors`: commands that turn output files into text.

use evalsuite_schema::grader::Preprocessor;

use crate::diagnostic::Diagnostics;
use crate::fields;
use crate::fields::label;
use crate::fields::paths::Scope;
use crate::fields::settings;
use crate::read::node::Entry;

/// Reads `preprocessors`; entries with problems are reported and left out.
pub(crate) fn read(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Preprocessor> {
    let Some(items) = fields::list(&entry.value, &label(entry), d) else { return Vec::new() };
    items.iter().filter_map(|item| settings::object(item, scope, d)).collect()
}
