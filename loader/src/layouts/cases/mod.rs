//! An eval file, with its cases in `tests` or in `cases/`.

mod eval_file;

use super::{Outline, SuiteEntry, outline_of};
use crate::cases::sources;
use crate::cases::sources::CaseSources;
use crate::diagnostic::Diagnostics;
use crate::fields::paths;
use crate::fields::paths::Scope;
use crate::source::Span;

pub(super) fn outline(entry: &SuiteEntry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Outline> {
    let path = entry.file.as_deref()?;
    let mut root = eval_file::parse(path, scope, d)?;
    let mut eval = eval_file::read(&root, path, scope, d)?;
    eval.defaults.targets.extend(scope.request.targets.iter().cloned());
    let directory = scope.roots.suite_root.join("cases");
    let mut sources = CaseSources { defaults: eval.defaults, ..CaseSources::default() };
    if let Some(entry) = eval.tests.and_then(|key| root.take_entry(key)) {
        let place = entry.value.span;
        sources::read(entry, scope, &mut sources, d);
        // Other eval files may share the directory with the one whose cases these are.
        if paths::file_stem(path).eq_ignore_ascii_case("eval") {
            sources::check_directory(place, &sources, scope, d);
        }
    } else if directory.is_dir() {
        sources::directory(&directory, Span::whole(scope.files.add(&directory)), scope, &mut sources, d);
    } else {
        eval_file::missing_tests(&root, d);
    }
    Some(outline_of(Some(eval.suite), sources, eval.targets_span))
}
