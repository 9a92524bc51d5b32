//! Throw-away packages, one per competitor and number of cases.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use walkdir::WalkDir;

use crate::competitor::{Competitor, TEST_TARGET};
use crate::layout::{Cases, Layout};
use crate::source_copy::SourceCopy;

/// A package on disk.
pub(crate) struct Package {
    pub(crate) competitor: &'static dyn Competitor,
    pub(crate) cases: Cases,
    /// Directory of `Cargo.toml`.
    pub(crate) root: PathBuf,
}

impl Package {
    /// Writes a package below `directory`, replacing any previous one of the same name.
    pub(crate) fn write(
        competitor: &'static dyn Competitor,
        cases: Cases,
        directory: &Path,
        source: &SourceCopy,
    ) -> Result<Self> {
        let package = Self { competitor, cases, root: directory.join(name(competitor, cases)) };
        package.remove()?;
        for directory in ["src", "tests"] {
            let directory = package.root.join(directory);
            fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        }
        package.write_file("Cargo.toml", &package.manifest(source))?;
        package.write_file("src/lib.rs", "")?;
        package.write_file(package.test_file(), &competitor.test_source(cases))?;
        if let Some(script) = competitor.build_script() {
            package.write_file("build.rs", script)?;
        }
        // The dependency versions of the workspace, so that all packages share one build of them.
        let lock = source.path("Cargo.lock");
        fs::copy(&lock, package.root.join("Cargo.lock")).with_context(|| format!("cannot copy {}", lock.display()))?;
        if let Some(files) = competitor.cases_in_files(cases) {
            files.write(&package.root)?;
        }
        Ok(package)
    }

    /// Name of the package.
    pub(crate) fn name(&self) -> String {
        name(self.competitor, self.cases)
    }

    /// Updates the modification time of the test source.
    pub(crate) fn touch(&self) -> Result<()> {
        let path = self.root.join(self.test_file());
        let touched =
            fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        touched.with_context(|| format!("cannot touch {}", path.display()))
    }

    /// Makes its files an hour old, as those of a suite mostly are: a reloading test program reads files again that changed since the
    /// minute before it was built.
    pub(crate) fn age(&self) -> Result<()> {
        let time = SystemTime::now() - Duration::from_secs(3600);
        for entry in WalkDir::new(&self.root) {
            let entry = entry?;
            if entry.file_type().is_file() {
                fs::File::options().append(true).open(entry.path())?.set_modified(time)?;
            }
        }
        Ok(())
    }

    /// Edits one case; revisions count from 1.
    pub(crate) fn edit_case(&self, revision: usize) -> Result<()> {
        self.competitor.edit_case(&self.root, self.cases, revision)
    }

    /// Edits the source of the tests; revisions count from 1.
    pub(crate) fn edit_source(&self, revision: usize) -> Result<()> {
        let source = self.competitor.test_source(self.cases);
        self.write_file(self.test_file(), &format!("{source}\n// {revision}\n"))
    }

    /// Adds a case; numbers count from 0.
    pub(crate) fn add_case(&self, number: usize) -> Result<()> {
        self.cases.write_case(&self.root, self.cases.count + number, 0)
    }

    /// Removes a case that was added.
    pub(crate) fn remove_case(&self, number: usize) -> Result<()> {
        let file = self.root.join(self.cases.file(self.cases.count + number));
        let directory = file.parent().filter(|_| self.cases.layout == Layout::Cases);
        let removed = match directory {
            Some(directory) => fs::remove_dir_all(directory),
            None => fs::remove_file(&file),
        };
        removed.with_context(|| format!("cannot remove {}", file.display()))
    }

    /// Directory of the results that tests write.
    pub(crate) fn results(&self) -> PathBuf {
        self.root.join("results")
    }

    /// Removes the results of earlier tests.
    pub(crate) fn remove_results(&self) -> Result<()> {
        remove_directory(&self.results())
    }

    /// Removes the package's directory, if it exists.
    pub(crate) fn remove(&self) -> Result<()> {
        remove_directory(&self.root)
    }

    fn manifest(&self, source: &SourceCopy) -> String {
        let harness = if self.competitor.harness() { "" } else { "harness = false\n" };
        // The empty table keeps the package out of the workspace that contains the target directory.
        format!(
            "[workspace]\n\n[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[[test]]\n\
             name = \"{TEST_TARGET}\"\n{harness}\n{}",
            self.name(),
            self.competitor.dependencies(source)
        )
    }

    fn test_file(&self) -> PathBuf {
        Path::new("tests").join(TEST_TARGET).with_extension("rs")
    }

    fn write_file(&self, path: impl AsRef<Path>, text: &str) -> Result<()> {
        let path = self.root.join(path);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

fn remove_directory(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn name(competitor: &dyn Competitor, cases: Cases) -> String {
    format!("{}-{}", competitor.name(), cases.count)
}
