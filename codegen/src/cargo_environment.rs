//! The environment variables that cargo and build scripts set for compilers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Start of the names of the variables that tell the macro which directories the build script tracks. evalsuite-build has the same
/// constant.
pub const TRACKED: &str = "EVALSUITE_TRACKED_";

/// Variable that makes warnings fail the build.
pub const DENY_WARNINGS: &str = "EVALSUITE_DENY_WARNINGS";

/// The value of a variable that cargo sets.
///
/// # Errors
///
/// If it is not set.
pub fn variable(name: &str) -> Result<OsString, String> {
    std::env::var_os(name).ok_or_else(|| format!("`{name}` is not set: evalsuite works in builds of cargo only"))
}

/// The directories that the package's build script tracks, as the compiler of the package sees them.
pub fn tracked_directories() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = std::env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(|name| name.starts_with(TRACKED)))
        .map(|(_, value)| value.into())
        .collect();
    directories.sort();
    directories
}

/// Whether one of `directories` holds `path`.
pub fn is_tracked(path: &Path, directories: &[PathBuf]) -> bool {
    directories.iter().any(|directory| path.starts_with(directory))
}

/// Whether [`DENY_WARNINGS`] makes warnings fail the build.
///
/// # Errors
///
/// If the variable is neither on nor off.
pub fn warnings_are_denied() -> Result<bool, String> {
    match std::env::var_os(DENY_WARNINGS) {
        None => Ok(false),
        Some(value) => switch(&value.to_string_lossy()),
    }
}

fn switch(value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" => Ok(true),
        "" | "0" | "false" => Ok(false),
        other => Err(format!("{DENY_WARNINGS} is `{other}`; valid values are `1`, `true`, `0` and `false`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_for_on_and_off_are_switches() {
        assert_eq!((switch("1"), switch("true")), (Ok(true), Ok(true)));
        assert_eq!((switch(""), switch("0"), switch("false")), (Ok(false), Ok(false), Ok(false)));
        assert!(switch("yes").is_err());
    }

    #[test]
    fn only_paths_below_a_tracked_directory_are_tracked() {
        let tracked = [PathBuf::from("/p/suites")];
        assert!(is_tracked(Path::new("/p/suites/a/b.json"), &tracked));
        assert!(!is_tracked(Path::new("/p/suites2/b.json"), &tracked));
    }
}
