//! Case files in the sub-directories of a directory.

use std::fs::FileType;
use std::path::Path;

use crate::link;
use crate::listing::{Listing, ProblemKind, entries, join};
use crate::parts::{ENTRIES_PER_THREAD, in_parts, processors};
use crate::spelling::has_name_of_disk;

/// Names of the file that is the case of its directory.
pub const CASE_FILES: [&str; 2] = ["case.yaml", "case.yml"];

/// Whether a path is that of the case of a directory, by its name.
pub fn is_case_file(path: &Path) -> bool {
    CASE_FILES.iter().any(|name| path.file_name().is_some_and(|file| file == *name))
}

pub(crate) fn list(root: &Path, boundary: &Path, path: &str, listing: &mut Listing) {
    let entries = entries(root, path, listing);
    let parts = in_parts(&entries, ENTRIES_PER_THREAD, processors, |part| {
        let mut listing = Listing::default();
        for (name, kind) in part {
            directory(root, boundary, &join(path, name), *kind, &mut listing);
        }
        listing
    });
    for Listing { files, problems, .. } in parts {
        listing.files.extend(files);
        listing.problems.extend(problems);
    }
}

fn directory(root: &Path, boundary: &Path, directory: &str, kind: FileType, listing: &mut Listing) {
    let name = directory.rsplit('/').next().unwrap_or(directory);
    if name.starts_with(['.', '_']) || !kind.is_symlink() && !kind.is_dir() {
        return;
    }
    if link::resolve(root, boundary, directory, kind, listing).is_some_and(|kind| kind.is_dir()) {
        case_file(root, boundary, directory, listing);
    }
}

fn case_file(root: &Path, boundary: &Path, directory: &str, listing: &mut Listing) {
    let before = listing.problems.len();
    let mut exists = |name: &str| {
        let file = join(directory, name);
        // A directory or a pipe with that name is not a case file; a link may point to one inside the boundary.
        let place = root.join(&file);
        let Ok(metadata) = place.symlink_metadata() else { return false };
        if !has_name_of_disk(&place) {
            return false;
        }
        link::resolve(root, boundary, &file, metadata.file_type(), listing).is_some_and(|kind| kind.is_file())
    };
    let [name, other] = CASE_FILES;
    match (exists(name), exists(other)) {
        (true, true) => listing.problem(directory, ProblemKind::TwoCaseFiles, format!("both `{name}` and `{other}`")),
        (true, false) => listing.files.push(join(directory, name)),
        (false, true) => listing.files.push(join(directory, other)),
        (false, false) if listing.problems.len() > before => {}
        (false, false) => listing.problem(directory, ProblemKind::NoCaseFile, format!("no `{name}`, skipped")),
    }
}
