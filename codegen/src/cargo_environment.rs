//! The environment variables that cargo sets for build scripts and compilers.

use std::path::{Path, PathBuf};

/// Start of the names of the variables that tell the macro which directories the build script tracks.
const TRACKED: &str = "EVALSUITE_TRACKED_";

/// Variable that makes warnings fail the build.
pub const DENY_WARNINGS: &str = "EVALSUITE_DENY_WARNINGS";

/// Where a build script runs.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// Directory of the package's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Where the build script may write.
    pub(crate) out_dir: PathBuf,
}

impl Package {
    /// # Errors
    ///
    /// If this is no build script.
    pub(crate) fn of_build_script() -> Result<Self, String> {
        Ok(Self { root: variable("CARGO_MANIFEST_DIR")?.into(), out_dir: variable("OUT_DIR")?.into() })
    }
}

fn variable(name: &str) -> Result<std::ffi::OsString, String> {
    std::env::var_os(name).ok_or_else(|| format!("evalsuite_build belongs in a build script: {name} is not set"))
}

/// Name of the variable for the tracked directory with this number.
pub(crate) fn tracked_variable(number: usize) -> String {
    format!("{TRACKED}{number}")
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
        other => Err(format!("{DENY_WARNINGS} is `{other}`; it is `1` or `true`, `0` or `false`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_is_on_or_off_and_nothing_else() {
        assert_eq!((switch("1"), switch("true")), (Ok(true), Ok(true)));
        assert_eq!((switch(""), switch("0"), switch("false")), (Ok(false), Ok(false), Ok(false)));
        assert!(switch("yes").is_err());
    }

    #[test]
    fn a_tracked_directory_holds_what_lies_below_it_and_no_namesake() {
        let tracked = [PathBuf::from("/p/suites")];
        assert!(is_tracked(Path::new("/p/suites/a/b.json"), &tracked));
        assert!(!is_tracked(Path::new("/p/suites2/b.json"), &tracked));
    }
}
