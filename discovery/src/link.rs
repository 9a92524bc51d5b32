//! Links: which of them are followed.

use std::fs::{FileType, Metadata};
use std::path::Path;

use crate::listing::{Listing, ProblemKind};

/// What an entry is, links followed while they stay inside `boundary`. `None`: a problem was noted.
pub(crate) fn resolve(
    root: &Path,
    boundary: &Path,
    path: &str,
    kind: FileType,
    listing: &mut Listing,
) -> Option<FileType> {
    if !kind.is_symlink() {
        return Some(kind);
    }
    let link = root.join(path);
    let target = match link.canonicalize() {
        Ok(target) => target,
        Err(error) => {
            listing.problem(path, ProblemKind::Link, format!("the link is broken: {error}"));
            return None;
        }
    };
    let inside = boundary.canonicalize().is_ok_and(|boundary| target.starts_with(boundary));
    if !inside {
        listing.problem(
            path,
            ProblemKind::Link,
            format!("the link resolves to {}, outside the suite", target.display()),
        );
        return None;
    }
    std::fs::metadata(&target).as_ref().map(Metadata::file_type).ok()
}

/// Maximum number of links to directories that are followed: links to directories with links double at every level.
const MAX_LINKS: usize = 1_000;

/// Whether a link to a directory is followed, `links` having been so far. If not, a problem was noted.
pub(crate) fn may_follow(root: &Path, path: &str, links: &mut usize, listing: &mut Listing) -> bool {
    if is_loop(root, path) {
        listing.problem(path, ProblemKind::Link, "the link points to a directory that contains it");
        return false;
    }
    if *links >= MAX_LINKS {
        if *links == MAX_LINKS {
            listing.problem(path, ProblemKind::TooDeep, format!("more than {MAX_LINKS} links to directories"));
        }
        *links = MAX_LINKS + 1;
        return false;
    }
    *links += 1;
    true
}

/// Whether a linked directory is one of its own ancestors.
fn is_loop(root: &Path, path: &str) -> bool {
    let Ok(target) = root.join(path).canonicalize() else { return false };
    let parent = root.join(path).parent().and_then(|parent| parent.canonicalize().ok());
    parent.is_some_and(|parent| parent.starts_with(target))
}
