//! The case files of a source of a suite.

use std::path::Path;

use crate::listing::{Listing, ProblemKind, Search};
use crate::{directories, glob, tasks};

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
        "tasks" => tasks::list(&mut search, path, 0),
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
