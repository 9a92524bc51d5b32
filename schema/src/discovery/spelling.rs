//! Paths as texts: as records and suites write them on every system, without `..`, and with the names that files have on the disk, also
//! where the file system finds them by others.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

/// The path with `/` separators. What is not UTF-8 is replaced.
pub fn with_slashes(path: &Path) -> String {
    slashed(path.to_string_lossy().into_owned(), MAIN_SEPARATOR)
}

fn slashed(path: String, separator: char) -> String {
    if separator == '/' { path } else { path.replace(separator, "/") }
}

/// Resolves `.` and `..` in the text of a path, as far as possible: links do not count.
pub fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    normal.push("..");
                }
            }
            other => normal.push(other),
        }
    }
    normal
}

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
    fn paths_look_the_same_on_every_system() {
        assert_eq!(with_slashes(&Path::new("a").join("b").join("c.txt")), "a/b/c.txt");
        assert_eq!(slashed(r"a\b".to_owned(), '\\'), "a/b");
        assert_eq!(slashed(r"a\b".to_owned(), '/'), r"a\b", "a name on Unix may have a backslash");
    }

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
