//! Case files in the sub-directories of a directory.

use std::path::Path;

use crate::{Listing, ProblemKind, entries, join, link};

pub(crate) fn list(root: &Path, boundary: &Path, path: &str, listing: &mut Listing) {
    for (name, kind) in entries(root, path, listing) {
        if name.starts_with(['.', '_']) {
            continue;
        }
        let directory = join(path, &name);
        let linked = kind.is_symlink();
        if !linked && !kind.is_dir() {
            continue;
        }
        let Some(kind) = link::resolve(root, boundary, &directory, kind, listing) else { continue };
        if kind.is_dir() {
            case_file(root, boundary, &directory, listing);
        }
    }
}

fn case_file(root: &Path, boundary: &Path, directory: &str, listing: &mut Listing) {
    let before = listing.problems.len();
    let mut exists = |name: &str| {
        let file = join(directory, name);
        // A directory or a pipe with that name is not a case file; a link may point to one inside the boundary.
        let Ok(metadata) = root.join(&file).symlink_metadata() else { return false };
        link::resolve(root, boundary, &file, metadata.file_type(), listing).is_some_and(|kind| kind.is_file())
    };
    match (exists("case.yaml"), exists("case.yml")) {
        (true, true) => listing.problem(directory, ProblemKind::TwoCaseFiles, "both `case.yaml` and `case.yml`"),
        (true, false) => listing.files.push(join(directory, "case.yaml")),
        (false, true) => listing.files.push(join(directory, "case.yml")),
        (false, false) if listing.problems.len() > before => {}
        (false, false) => listing.problem(directory, ProblemKind::NoCaseFile, "no `case.yaml`, skipped"),
    }
}
