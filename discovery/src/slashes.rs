//! Paths as records and suites write them on every system.

use std::path::{MAIN_SEPARATOR, Path};

/// The path with `/` separators. What is not UTF-8 is replaced.
pub fn with_slashes(path: &Path) -> String {
    slashed(path.to_string_lossy().into_owned(), MAIN_SEPARATOR)
}

fn slashed(path: String, separator: char) -> String {
    if separator == '/' { path } else { path.replace(separator, "/") }
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
