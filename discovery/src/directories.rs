//! Case files in the sub-directories of a directory.

use std::fs::FileType;
use std::path::Path;

use crate::link;
use crate::listing::{Listing, ProblemKind, entries, in_parts, join};
use crate::spelling::has_name_of_disk;

pub(crate) fn list(root: &Path, boundary: &Path, path: &str, listing: &mut Listing) {
    let entries = entries(root, path, listing);
    let parts = in_parts(&entries, |part| {
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
    match (exists("case.yaml"), exists("case.yml")) {
        (true, true) => listing.problem(directory, ProblemKind::TwoCaseFiles, "both `case.yaml` and `case.yml`"),
        (true, false) => listing.files.push(join(directory, "case.yaml")),
        (false, true) => listing.files.push(join(directory, "case.yml")),
        (false, false) if listing.problems.len() > before => {}
        (false, false) => listing.problem(directory, ProblemKind::NoCaseFile, "no `case.yaml`, skipped"),
    }
}
