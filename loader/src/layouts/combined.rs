//! `suite.json` with case directories in `cases/`.

use evalsuite_schema::Layout;

use super::{Outline, SuiteEntry, outline_of, read_suite_json};
use crate::cases::sources;
use crate::cases::sources::CaseSources;
use crate::diagnostic::Diagnostics;
use crate::fields::paths::Scope;
use crate::source::Span;

/// The directory of cases; the case of its letters matters.
pub(super) const DIRECTORY: &str = "cases";

pub(super) fn outline(entry: &SuiteEntry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Outline> {
    let path = entry.file.as_deref()?;
    let json = read_suite_json(path, Layout::Combined, scope, d);
    let mut sources = CaseSources::default();
    // The kind of an unreadable suite file is unknown: every strategy may be right.
    if let Some((suite, written)) = &json {
        sources.defaults.kind = suite.kind;
        sources.defaults.threshold = written.task_pass_threshold;
        sources.defaults.needs_reference = written.require_reference_solution;
    }
    let directory = scope.roots.suite_root.join(DIRECTORY);
    sources::directory(&directory, Span::whole(scope.files.add(&directory)), scope, &mut sources, d);
    let place = Span::whole(scope.files.add(path));
    Some(outline_of(json.map(|(suite, _)| suite), sources, place))
}
