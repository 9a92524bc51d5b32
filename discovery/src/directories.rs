//! Case files in the sub-directories of a directory.

use std::fs::FileType;
use std::path::Path;

use crate::listing::{Listing, ProblemKind, Search, join};
use crate::parts::{ENTRIES_PER_THREAD, in_parts, processors};
use crate::spelling::has_name_of_disk;

/// Names of the file that is the case of its directory.
pub const CASE_FILES: [&str; 2] = ["case.yaml", "case.yml"];

/// Whether a path is that of the case of a directory, by its name.
pub fn is_case_file(path: &Path) -> bool {
    CASE_FILES.iter().any(|name| path.file_name().is_some_and(|file| file == *name))
}

pub(crate) fn list(search: &mut Search<'_>, path: &str) {
    let entries = search.entries(path);
    let parts = in_parts(&entries, ENTRIES_PER_THREAD, processors, |part| {
        let mut search = Search::new(search.root, search.boundary);
        for (name, kind) in part {
            directory(&mut search, &join(path, name), *kind);
        }
        search.found
    });
    for Listing { files, problems, .. } in parts {
        search.found.files.extend(files);
        search.found.problems.extend(problems);
    }
}

fn directory(search: &mut Search<'_>, directory: &str, kind: FileType) {
    let name = directory.rsplit('/').next().unwrap_or(directory);
    if name.starts_with(['.', '_']) || !kind.is_symlink() && !kind.is_dir() {
        return;
    }
    if search.resolve(directory, kind).is_some_and(|kind| kind.is_dir()) {
        case_file(search, directory);
    }
}

fn case_file(search: &mut Search<'_>, directory: &str) {
    let before = search.found.problems.len();
    let mut exists = |name: &str| {
        let file = join(directory, name);
        // A directory or a pipe with that name is not a case file; a link may point to one inside the boundary.
        let place = search.root.join(&file);
        let Ok(metadata) = place.symlink_metadata() else { return false };
        has_name_of_disk(&place) && search.resolve(&file, metadata.file_type()).is_some_and(|kind| kind.is_file())
    };
    let [name, other] = CASE_FILES;
    match (exists(name), exists(other)) {
        (true, true) => search.problem(directory, ProblemKind::TwoCaseFiles, format!("both `{name}` and `{other}`")),
        (true, false) => search.found.files.push(join(directory, name)),
        (false, true) => search.found.files.push(join(directory, other)),
        (false, false) if search.found.problems.len() > before => {}
        (false, false) => search.problem(directory, ProblemKind::NoCaseFile, format!("no `{name}`, skipped")),
    }
}
