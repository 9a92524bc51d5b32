//! Suites without a suite file: case directories, or a JSONL file.

use std::path::Path;

use evalsuite_schema::Layout;
use evalsuite_schema::discovery::{CASE_FILES, has_name_of_disk};

use super::{Outline, SuiteEntry, new_suite, outline_of};
use crate::cases::sources;
use crate::cases::sources::{CaseSource, CaseSources};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::Scope;
use crate::source::{Files, Span};

pub(super) fn outline(entry: &SuiteEntry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Outline> {
    let root = &scope.roots.suite_root;
    let place = Span::whole(scope.files.add(entry.file.as_deref().unwrap_or(root)));
    let mut sources = CaseSources::default();
    sources.defaults.targets.clone_from(&scope.request.targets);
    match &entry.file {
        Some(file) => {
            sources.list.push(CaseSource::List { file: file.clone(), source: String::new(), span: place });
        }
        None => sources::directory(root, place, scope, &mut sources, d),
    }
    let suite = new_suite(entry.stem.clone(), Layout::Bare, place, scope);
    Some(outline_of(Some(suite), sources, place))
}

/// Whether a directory has directories of cases.
pub(super) fn has_case_directories(root: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(root) else { return false };
    entries.flatten().any(|entry| {
        let hidden = entry.file_name().to_string_lossy().starts_with(['.', '_']);
        !hidden && is_case_directory(&entry.path())
    })
}

pub(super) fn is_case_directory(path: &Path) -> bool {
    CASE_FILES.map(|name| path.join(name)).iter().any(|file| file.exists() && has_name_of_disk(file))
}

/// YAML next to a JSONL entry looks as if it were read with it.
pub(super) fn warn_of_sidecar(path: &Path, files: &Files, d: &mut Diagnostics) {
    for ending in ["yaml", "yml", "eval.yaml", "eval.yml"] {
        let sidecar = path.with_extension(ending);
        if sidecar.is_file() {
            let shown = files.shown(&sidecar);
            let message = format!("`{shown}` has no effect: the entry path names the `.jsonl` file next to it");
            let help = "name the YAML file in the macro, and the `.jsonl` file in its `tests`";
            d.report(Code::NoEffect, Span::whole(files.add(&sidecar)), message, help);
        }
    }
}
