//! Archives of nextest: test programs that run without their sources.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Call, Package};

/// The test programs of a package, in an archive.
#[derive(Debug)]
pub struct Archive {
    file: PathBuf,
    root: PathBuf,
}

impl Archive {
    /// Builds the tests of a package and packs them.
    pub fn of(package: &Package) -> Self {
        let root = package.records_directory().join("elsewhere");
        fs::create_dir_all(&root).unwrap_or_else(|error| panic!("cannot create {}: {error}", root.display()));
        // nextest looks for the package's manifest.
        fs::copy(package.root().join("Cargo.toml"), root.join("Cargo.toml")).expect("the manifest can be copied");
        let archive = Self { file: package.records_directory().join("archive.tar.zst"), root };
        let call = package.cargo(["nextest", "archive", "--archive-file", utf8(&archive.file)]);
        call.run().succeeds("the tests are packed");
        archive
    }

    /// The directory that stands for the package where the archive runs.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A call of nextest that runs the tests of the archive.
    pub fn call(&self, package: &Package) -> Call {
        let (file, root) = (utf8(&self.file), utf8(&self.root));
        let call = ["nextest", "run", "--archive-file", file, "--workspace-remap", root];
        Call::program("cargo", package).args(call).in_directory(&self.root)
    }
}

fn utf8(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}
