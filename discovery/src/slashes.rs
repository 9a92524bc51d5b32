//! Paths as texts: as records and suites write them on every system, and without `..`.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_look_the_same_on_every_system() {
        assert_eq!(with_slashes(&Path::new("a").join("b").join("c.txt")), "a/b/c.txt");
        assert_eq!(slashed(r"a\b".to_owned(), '\\'), "a/b");
        assert_eq!(slashed(r"a\b".to_owned(), '/'), r"a\b", "a name on Unix may have a backslash");
    }
}
