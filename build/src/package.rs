//! The package of the build script.

use std::ffi::OsString;
use std::path::PathBuf;

/// The package of a build script.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// Directory of the package's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Where the build script may write.
    pub(crate) out_dir: PathBuf,
}

impl Package {
    pub(crate) fn of_build_script() -> Result<Self, String> {
        Ok(Self { root: variable("CARGO_MANIFEST_DIR")?.into(), out_dir: variable("OUT_DIR")?.into() })
    }
}

fn variable(name: &str) -> Result<OsString, String> {
    std::env::var_os(name).ok_or_else(|| format!("`{name}` is not set: evalsuite_build works in build scripts only"))
}
