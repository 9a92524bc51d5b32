//! Packages that use evalsuite as its users do, built and run by the real cargo.
//!
//! All of them share one target directory, so that the dependencies are built once; cargo's lock on it serializes their
//! builds. Each test's package has its own name and the same directory in every run.

mod archive;
mod build;
mod call;
mod command_output;
mod directories;
mod records;
pub mod suites;

use std::path::{Path, PathBuf};
use std::{fs, thread};

pub use archive::Archive;
pub use build::{Artifact, Build, Message};
pub use call::Call;
pub use command_output::CommandOutput;
pub use directories::workspace;
pub use records::{Records, files_below, read_json};

/// A package on disk. It is kept after the test, so that a failed test can be examined, and replaced by the next run. The programs of a
/// test that passed are removed: together they would have gigabytes, and the next run builds them again.
#[derive(Debug)]
pub struct Package {
    name: String,
    root: PathBuf,
    records: PathBuf,
}

/// The features of evalsuite that packages have: with one set for all of them, cargo compiles evalsuite once.
const FEATURES: &[&str] = &["acp", "cli-agents", "grader-tests", "mcp", "unicode-patterns"];

/// The other features of evalsuite, for `--features`. Tests build packages with and without these, and with all of them if they need one: then
/// cargo compiles evalsuite once more, and not once for each.
pub const MORE_FEATURES: &str = "evalsuite/judge,evalsuite/probe,evalsuite/reload,evalsuite/sealed,evalsuite/users";

impl Package {
    /// A package with evalsuite as dependency and `evalsuite-build` as build-dependency, without sources.
    ///
    /// `name` has to be unique among all tests.
    pub fn new(name: &str) -> Self {
        Self::with_features(name, FEATURES)
    }

    /// The same with only these features of evalsuite besides its defaults, for tests of what a feature adds. Each set costs another
    /// compilation of evalsuite.
    pub fn with_features(name: &str, features: &[&str]) -> Self {
        let package = Self::empty(name, directories::target().join("throwaway-packages").join(name));
        // Without a workspace of its own, cargo would look for the package in the workspace of evalsuite.
        package.write("Cargo.toml", &format!("{}\n[workspace]\n", Self::manifest_with(name, features)));
        package
    }

    /// A package as from [`new`](Self::new), but outside of any workspace.
    pub fn outside_of_workspaces(name: &str) -> Self {
        let package = Self::empty(name, directories::elsewhere().join(name));
        package.write("Cargo.toml", &Self::manifest(name));
        package
    }

    /// A directory outside of any workspace that has nothing but a `Cargo.lock` yet.
    pub fn directory_outside_of_workspaces(name: &str) -> Self {
        Self::empty(name, directories::elsewhere().join(name))
    }

    /// A workspace without a package at its root. The members are folders with a [`manifest`](Self::manifest).
    pub fn workspace(name: &str, members: &[&str]) -> Self {
        let package = Self::empty(name, directories::target().join("throwaway-packages").join(name));
        package.write("Cargo.toml", &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"));
        package
    }

    fn empty(name: &str, root: PathBuf) -> Self {
        let records = directories::target().join("throwaway-records").join(name);
        for directory in [&root, &records] {
            if directory.exists() {
                fs::remove_dir_all(directory)
                    .unwrap_or_else(|error| panic!("cannot empty {}: {error}", directory.display()));
            }
        }
        let package = Self { name: name.to_owned(), root, records };
        let lock =
            fs::read_to_string(directories::workspace().join("Cargo.lock")).expect("the workspace has a Cargo.lock");
        package.write("Cargo.lock", &lock);
        package
    }

    /// `Cargo.toml` of a package with evalsuite, without a table `[workspace]`.
    ///
    /// Every package has the same dependencies, so that cargo builds them once.
    pub fn manifest(name: &str) -> String {
        Self::manifest_with(name, FEATURES)
    }

    /// The same with only these features of evalsuite besides its defaults.
    pub fn manifest_with(name: &str, features: &[&str]) -> String {
        let path = |folder: &str| format!("{:?}", directories::workspace().join(folder));
        let features = if features.is_empty() { String::new() } else { format!(", features = {features:?}") };
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nevalsuite = {{ path = {}{features} }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\n\
             [build-dependencies]\nevalsuite-build = {{ path = {} }}\n",
            path("runtime"),
            path("build"),
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

    /// Writes a file, and creates the folders above it.
    pub fn write(&self, path: &str, content: &str) -> &Self {
        let path = self.root.join(path);
        let folder = path.parent().expect("a file has a folder");
        fs::create_dir_all(folder).unwrap_or_else(|error| panic!("cannot create {}: {error}", folder.display()));
        fs::write(&path, content).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        self
    }

    /// Writes a library without tests: cargo builds no test program of it and does not look for examples in its documentation.
    pub fn library(&self, content: &str) -> &Self {
        let manifest = fs::read_to_string(self.root.join("Cargo.toml")).expect("the package has a Cargo.toml");
        if !manifest.contains("\n[lib]\n") {
            let library = "[lib]\ntest = false\ndoctest = false\n\n[dependencies]\n";
            self.write("Cargo.toml", &manifest.replacen("[dependencies]\n", library, 1));
        }
        self.write("src/lib.rs", content)
    }

    /// Adds the feature `generate` of evalsuite-build to the manifest.
    pub fn add_generator(&self) -> &Self {
        let manifest = fs::read_to_string(self.root.join("Cargo.toml")).expect("the package has a Cargo.toml");
        self.write("Cargo.toml", &manifest.replace("build\" }", "build\", features = [\"generate\"] }"))
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
        fs::create_dir_all(to.parent().expect("a file has a folder")).expect("the folder can be made");
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

    /// The records of all runs of this package.
    pub fn records(&self) -> Records {
        Records::below(&self.records)
    }

    /// The output root of this package's runs.
    pub fn records_directory(&self) -> &Path {
        &self.records
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        let built = directories::shared_target().join("debug/deps");
        let entries = fs::read_dir(built).into_iter().flatten().flatten().map(|entry| entry.path());
        // A file `evals-0123.d` lists the sources of the program `evals-0123`.
        for sources in entries.filter(|path| path.extension().is_some_and(|extension| extension == "d")) {
            // With the paths of suites, or with a variable that is the directory.
            let root = self.root.display().to_string();
            let is_of_package = fs::read_to_string(&sources)
                .is_ok_and(|text| text.contains(&format!("{root}/")) || text.lines().any(|line| line.ends_with(&root)));
            if is_of_package {
                // Libraries have no file of this name.
                let _ = fs::remove_file(sources.with_extension(""));
            }
        }
    }
}
