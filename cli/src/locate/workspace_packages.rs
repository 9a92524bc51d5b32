//! The packages of this workspace, to which the suites of a run belong.

use std::path::{Path, PathBuf};

use evalsuite_records::record::SuiteId;

use crate::platform::cargo_process::{Packages, metadata, packages};
use crate::platform::cli_error::Result;

/// The packages of this workspace.
pub(crate) struct WorkspacePackages {
    root: PathBuf,
    packages: Packages,
}

impl WorkspacePackages {
    /// Asks cargo.
    pub(crate) fn here() -> Result<Self> {
        let metadata = metadata(Path::new("."))?;
        let root = metadata["workspace_root"].as_str().unwrap_or_default().into();
        Ok(Self { root, packages: packages(&metadata) })
    }

    /// The root of the package that a suite belongs to, by its name, else by its directory, whatever its name was when a run was made.
    pub(crate) fn root_of(&self, suite: &SuiteId) -> Option<&PathBuf> {
        let named = self.packages.iter().find(|(_, package)| package["name"] == suite.package.as_str());
        let by_directory = || {
            let directory = Some(&suite.package_directory).filter(|directory| !directory.is_empty())?;
            self.packages.get_key_value(&self.root.join(directory))
        };
        named.or_else(by_directory).map(|(root, _)| root)
    }
}
