//! Checks that symbolic links of a template stay inside it.

use std::path::{Component, Path};

/// Whether the destination of a link in the directory `parent` is below `root`. Does not look at the disk.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_out_of_the_root_is_found() {
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
