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
            case_file(root, &directory, listing);
        }
    }
}

fn case_file(root: &Path, directory: &str, listing: &mut Listing) {
    // A directory of that name, a pipe or a link that leads nowhere is no case file.
    let exists = |name: &str| root.join(directory).join(name).is_file();
    match (exists("case.yaml"), exists("case.yml")) {
        (true, true) => listing.problem(directory, ProblemKind::TwoCaseFiles, "both `case.yaml` and `case.yml`"),
        (true, false) => listing.files.push(join(directory, "case.yaml")),
        (false, true) => listing.files.push(join(directory, "case.yml")),
        (false, false) => listing.problem(directory, ProblemKind::NoCaseFile, "no `case.yaml`, skipped"),
    }
}
