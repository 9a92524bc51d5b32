//! Links inside of workspaces.

use std::{
    io,
    path::{Component, Path},
};

/// Whether a link's destination lies below `root`, seen from `parent`, without looking at the disk.
pub(crate) fn stays_inside(root: &Path, parent: &Path, destination: &Path) -> bool {
    let Ok(parent) = parent.strip_prefix(root) else { return false };
    let mut depth = parent.components().count();
    for component in destination.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Makes the link `target`, which leads to `destination`; `source` is the link it is a copy of.
#[cfg(unix)]
pub(crate) fn make(destination: &Path, _source: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(destination, target)
}

/// Makes the link `target`, which leads to `destination`; `source` is the link it is a copy of.
#[cfg(windows)]
pub(crate) fn make(destination: &Path, source: &Path, target: &Path) -> io::Result<()> {
    if source.is_dir() {
        std::os::windows::fs::symlink_dir(destination, target)
    } else {
        std::os::windows::fs::symlink_file(destination, target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_out_is_seen() {
        for (parent, destination, inside) in [
            ("/t", "a/b", true),
            ("/t/d", "../a", true),
            ("/t", "../a", false),
            ("/t/d", "../../a", false),
            ("/t", "/etc/passwd", false),
            ("/t", "a/../../t/x", false),
        ] {
            assert_eq!(
                stays_inside(Path::new("/t"), Path::new(parent), Path::new(destination)),
                inside,
                "{destination}"
            );
        }
    }
}
