//! Packages that use evalsuite as its users do, built and run by the real cargo.
//!
//! All of them share one target directory, so that the dependencies are built once, and cargo's lock on it makes their
//! builds wait for each other. A test's package has a name of its own and lies at the same place in every run.

mod build;
mod call;
mod place;
mod ran;
mod records;
pub mod suites;

use std::fs;
use std::path::{Path, PathBuf};

pub use build::{Artifact, Build, Message};
pub use call::{Call, has_nextest};
pub use place::workspace;
pub use ran::Ran;
pub use records::Records;

/// A package on disk. Nothing is cleaned up at the end: what a failed test leaves can be looked at, and the next run
/// starts anew.
#[derive(Debug)]
pub struct Package {
    name: String,
    root: PathBuf,
    records: PathBuf,
}

impl Package {
    /// A package with evalsuite as dependency and `evalsuite-build` as build-dependency, without sources.
    ///
    /// `name` has to be unique among all tests.
    pub fn new(name: &str) -> Self {
        let package = Self::empty(name, place::target().join("throwaway-packages").join(name));
        // Below the workspace of evalsuite cargo would take the package for a member.
        package.write("Cargo.toml", &format!("{}\n[workspace]\n\n{PROFILE}", Self::manifest(name)));
        package
    }

    /// The same, but neither the package nor a directory around it is a workspace.
    pub fn outside_of_workspaces(name: &str) -> Self {
        let package = Self::empty(name, place::elsewhere().join(name));
        package.write("Cargo.toml", &format!("{}\n{PROFILE}", Self::manifest(name)));
        package
    }

    /// A workspace without a package at its root. The members are folders with a [`manifest`](Self::manifest).
    pub fn workspace(name: &str, members: &[&str]) -> Self {
        let package = Self::empty(name, place::target().join("throwaway-packages").join(name));
        package.write("Cargo.toml", &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n{PROFILE}"));
        package
    }

    fn empty(name: &str, root: PathBuf) -> Self {
        let records = place::target().join("throwaway-records").join(name);
        for directory in [&root, &records] {
            if directory.exists() {
                fs::remove_dir_all(directory)
                    .unwrap_or_else(|error| panic!("cannot empty {}: {error}", directory.display()));
            }
        }
        let package = Self { name: name.to_owned(), root, records };
        let lock = fs::read_to_string(place::workspace().join("Cargo.lock")).expect("the workspace has a Cargo.lock");
        package.write("Cargo.lock", &lock);
        package
    }

    /// `Cargo.toml` of a package with evalsuite, without a table `[workspace]`.
    ///
    /// Every package has the same dependencies: with others cargo would build all of them again.
    pub fn manifest(name: &str) -> String {
        let path = |folder: &str| format!("{:?}", place::workspace().join(folder));
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nevalsuite = {{ path = {} }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\n\
             [build-dependencies]\nevalsuite-build = {{ path = {}, features = [\"generate\"] }}\n",
            path("runtime"),
            path("codegen"),
        )
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, path: &str, content: &str) -> &Self {
        let path = self.root.join(path);
        let folder = path.parent().expect("a file lies in a folder");
        fs::create_dir_all(folder).unwrap_or_else(|error| panic!("cannot create {}: {error}", folder.display()));
        fs::write(&path, content).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        self
    }

    /// Deletes a file or a folder.
    pub fn remove(&self, path: &str) -> &Self {
        let path = self.root.join(path);
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.unwrap_or_else(|error| panic!("cannot remove {}: {error}", path.display()));
        self
    }

    /// Renames a file or a folder.
    pub fn rename(&self, from: &str, to: &str) -> &Self {
        let to = self.root.join(to);
        fs::create_dir_all(to.parent().expect("a file lies in a folder")).expect("the folder can be made");
        fs::rename(self.root.join(from), &to).unwrap_or_else(|error| panic!("cannot rename {from}: {error}"));
        self
    }

    /// A call of cargo in the package. Records of runs go to [`records`](Self::records).
    pub fn cargo<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Call {
        Call::cargo(self).args(arguments)
    }

    /// Builds tests, `cargo test --no-run`, with more arguments.
    pub fn build<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Build {
        self.cargo(["test", "--no-run"]).args(arguments).build()
    }

    /// What the runs of this package have written.
    pub fn records(&self) -> Records {
        Records::below(&self.records)
    }

    /// Where calls of this package write records.
    pub fn records_directory(&self) -> &Path {
        &self.records
    }
}

/// Small and quick to link; incremental compilation does not pay for packages of a few lines.
const PROFILE: &str = "[profile.dev]\ndebug = false\nincremental = false\n";
