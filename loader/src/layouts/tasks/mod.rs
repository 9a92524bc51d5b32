//! `suite.json` with a JSON file per task below `tasks/`.

mod task;

use std::path::{Path, PathBuf};

use evalsuite_schema::{Layout, SuiteJson};

use super::{Outline, SuiteEntry, suite_json};
use crate::cases::{CaseFiles, PlacedCase, ReadCases, is_mapping, sources, takes_file};
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths;
use crate::fields::paths::Scope;
use crate::source::Span;
use crate::{names, read};

/// The directory of tasks; the case of its letters matters.
pub(super) const DIRECTORY: &str = "tasks";

/// Name of the file that gives its directory's name to the test.
const TASK_FILE: &str = "task.json";

pub(super) fn outline(entry: &SuiteEntry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Outline> {
    let path = entry.file.as_deref()?;
    let json = suite_json::read(path, Layout::Tasks, scope, d);
    let root = &scope.roots.suite_root;
    let listing = evalsuite_discovery::list(root, root, "tasks", DIRECTORY);
    sources::report(&listing, root, None, scope, d);
    if listing.files.is_empty() && listing.problems.is_empty() {
        let directory = root.join(DIRECTORY);
        let message = format!("no task in `{}`", scope.files.shown(&directory));
        d.report(Code::NoCases, Span::whole(scope.files.add(&directory)), message, "add a JSON file per task");
    }
    let (suite, json) = json.unzip();
    Some(Outline {
        suite,
        cases: Box::new(TaskFiles { files: listing.files, json }),
        watched: vec![("tasks".to_owned(), DIRECTORY.to_owned())],
        place: Span::whole(scope.files.add(path)),
    })
}

/// The files of tasks, relative to the suite root.
#[derive(Debug)]
struct TaskFiles {
    files: Vec<String>,
    json: Option<SuiteJson>,
}

impl TaskFiles {
    fn read_file(&self, source: &str, scope: Scope<'_>, d: &mut Diagnostics) -> Option<PlacedCase> {
        let path = scope.roots.suite_root.join(source);
        let (id, text) = read::read_text(&path, scope.files, d)?;
        let root = read::parse_json(id, &text, d)?;
        if !is_mapping(&root, "a task file contains one task", d) {
            return None;
        }
        let scope = scope.at(path.parent().unwrap_or(scope.dir));
        let before = paths::lookups();
        let checked = task::read(&root, &path, self.json.as_ref(), scope, d)?;
        let stands_alone = checked.case.workspace.is_none() && paths::lookups() == before;
        let (folders, function) = test_of(source);
        Some(PlacedCase { checked, source: source.to_owned(), folders, function, stands_alone })
    }
}

impl CaseFiles for TaskFiles {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn read_one(&self, index: usize, scope: Scope<'_>, read: &mut ReadCases, d: &mut Diagnostics) {
        let source = &self.files[index];
        if takes_file(source, scope.request) {
            read.cases.extend(self.read_file(source, scope, d));
        } else {
            let (folders, function) = test_of(source);
            read.leave_out(source, folders.into_iter().chain([function]).collect::<Vec<_>>().join("::"), false);
        }
    }

    fn path(&self, index: usize, suite_root: &Path) -> Option<PathBuf> {
        Some(suite_root.join(&self.files[index]))
    }
}

/// Modules and function of the test of a task file.
fn test_of(source: &str) -> (Vec<String>, String) {
    let mut folders: Vec<&str> = source.split('/').skip(1).collect();
    let file = folders.pop().unwrap_or_default();
    let function = match file {
        TASK_FILE => folders.pop().unwrap_or("task"),
        name => &name[..name.len() - ".json".len()],
    };
    (folders.into_iter().map(names::segment).collect(), names::segment(function))
}
