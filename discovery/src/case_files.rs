//! The case files of a source of a suite.

use std::path::Path;

use crate::listing::{Listing, ProblemKind, Search, join};
use crate::{directories, glob};

/// Lists the case files of one source of a suite. `boundary` is the directory that links may not leave: the suite root
/// for tasks, the package root for case directories and patterns.
///
/// | `kind` | `path` | listed |
/// | --- | --- | --- |
/// | `tasks` | directory | every `.json` file at any depth, except below a `workspace` directory next to a `.json` file |
/// | `directories` | directory | `case.yaml` or `case.yml` of every immediate sub-directory whose name does not start with `.` or `_` |
/// | `glob` | pattern | files that match, without names that start with `.` |
///
/// Paths are relative to `root`; an empty `path` is `root` itself. An unknown kind lists nothing and is a problem.
pub fn list(root: &Path, boundary: &Path, kind: &str, path: &str) -> Listing {
    let mut search = Search::new(root, boundary);
    match kind {
        "tasks" => list_tasks(&mut search, path, 0),
        "directories" => directories::list(&mut search, path),
        "glob" => glob::list(&mut search, path),
        other => search.problem(path, ProblemKind::Unreadable, format!("unknown kind of source `{other}`")),
    }
    let mut listing = search.found;
    // Case directories come in the order of their names: `a` goes before `a-b`, though `a-b/case.yaml` goes before
    // `a/case.yaml`.
    if kind != "directories" {
        listing.files.sort();
    }
    listing
}

/// The task files below a directory.
fn list_tasks(search: &mut Search<'_>, path: &str, depth: usize) {
    if search.is_too_deep(path, depth) {
        return;
    }
    let mut directories = Vec::new();
    let mut holds_task = false;
    for (name, kind) in search.entries(path) {
        let entry = join(path, &name);
        let linked = kind.is_symlink();
        let Some(kind) = search.resolve(&entry, kind) else {
            // It was meant to be a task: the directory next to it is still its template.
            holds_task |= is_task(&name);
            continue;
        };
        if kind.is_dir() {
            if !linked || search.may_follow(&entry) {
                directories.push((name, entry));
            }
        } else if is_task(&name) {
            // Anything else with such a name (a FIFO, a socket) is listed too: the reader reports what it is.
            holds_task = true;
            search.found.files.push(entry);
        }
    }
    for (name, directory) in directories {
        // The template of the tasks next to it, not a folder of tasks.
        if name != "workspace" || !holds_task {
            list_tasks(search, &directory, depth + 1);
        }
    }
}

fn is_task(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() >= 5 && bytes[bytes.len() - 5..].eq_ignore_ascii_case(b".json")
}
