//! Upper and lower case in names of files: a name is the one on the disk, also where the file system finds it by another.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// File systems that find a file by a name with other letters in upper case.
const FINDS_ANY_CASE: bool = cfg!(any(windows, target_vendor = "apple"));

/// Whether an existing path ends with the name that the entry has on the disk: `Case.yaml` is not `case.yaml`, on any system.
pub fn has_name_of_disk(path: &Path) -> bool {
    !FINDS_ANY_CASE || has_name_in_listing(path)
}

/// Whether the names of an existing path below `root` are those that its entries have on the disk.
pub fn has_names_of_disk(root: &Path, path: &Path) -> bool {
    if !FINDS_ANY_CASE {
        return true;
    }
    let (Ok(real_root), Ok(real)) = (root.canonicalize(), path.canonicalize()) else { return true };
    let (Ok(names), Ok(real_names)) = (path.strip_prefix(root), real.strip_prefix(real_root)) else { return true };
    !differ_in_case(names.as_os_str(), real_names.as_os_str())
}

fn has_name_in_listing(path: &Path) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return true };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let Ok(entries) = fs::read_dir(parent) else { return true };
    let mut is_other = false;
    for entry in entries.flatten() {
        if entry.file_name() == name {
            return true;
        }
        is_other |= differ_in_case(name, &entry.file_name());
    }
    // Some file systems also write accents in another way, which is not a difference.
    !is_other
}

fn differ_in_case(one: &OsStr, other: &OsStr) -> bool {
    one != other && one.eq_ignore_ascii_case(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_other_letters_is_another_name() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("Draft")).unwrap();
        fs::write(root.path().join("Draft/Case.yaml"), "").unwrap();
        let draft = root.path().join("Draft");
        assert!(has_name_in_listing(&draft.join("Case.yaml")));
        assert!(!has_name_in_listing(&draft.join("case.yaml")));
    }

    #[test]
    #[cfg_attr(windows, ignore = "Wine 8 shows a file by the name it was opened with; on Windows it has not run yet")]
    fn a_path_in_other_letters_is_another_path() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("Draft")).unwrap();
        fs::write(root.path().join("Draft/Case.yaml"), "").unwrap();
        assert!(has_names_of_disk(root.path(), &root.path().join("Draft/Case.yaml")));
        for path in ["Draft/case.yaml", "draft/Case.yaml"] {
            let path = root.path().join(path);
            assert!(!(path.exists() && has_names_of_disk(root.path(), &path)), "{}", path.display());
        }
    }
}
