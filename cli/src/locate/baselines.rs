//! Where the baselines of a run's suites are.

use std::path::{Path, PathBuf};

use evalsuite_records::baseline::{accepted_answers_file, baseline_file, own_baseline_files};
use evalsuite_records::record::{AcceptedAnswers, Baseline, SuiteId};
use evalsuite_report::{RunData, SuiteData, read_accepted_answers, read_baseline};

use crate::platform::cargo_process::{Packages, metadata, packages};
use crate::platform::cli_error::{CliError, Result};

/// The files for the baseline and the accepted answers of a suite, which need not exist.
pub(crate) struct BaselineFile<'a> {
    pub(crate) suite: &'a SuiteData,
    pub(crate) path: PathBuf,
    pub(crate) answers: PathBuf,
}

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

/// The files for the baselines of a run's suites: each is in the package that the suite belongs to.
pub(crate) fn files(run: &RunData) -> Result<Vec<BaselineFile<'_>>> {
    let packages = WorkspacePackages::here()?;
    let mut files: Vec<BaselineFile<'_>> = Vec::new();
    for suite in &run.suites {
        let (name, package) = (&suite.name, &suite.id.package);
        if package.is_empty() {
            return Err(CliError::new(format!("run `{}` does not record the package of suite `{name}`", run.run_id)));
        }
        let root = packages
            .root_of(&suite.id)
            .ok_or_else(|| CliError::new(format!("package `{package}` of suite `{name}` is not in this workspace")))?;
        let (mut path, mut answers) = (baseline_file(root, &suite.id), accepted_answers_file(root, &suite.id));
        if files.iter().any(|file| file.path == path) {
            [path, answers] = own_baseline_files(root, &suite.id);
        }
        files.push(BaselineFile { suite, path, answers });
    }
    Ok(files)
}

/// The baselines of a run's suites, as far as there are any. Each names its suite as the run does.
pub(crate) fn read(run: &RunData) -> Result<Vec<Baseline>> {
    existing(files(run)?.into_iter().map(|file| {
        Ok(read_baseline(&file.path)?.map(|mut baseline| {
            baseline.header.suite.clone_from(&file.suite.name);
            baseline
        }))
    }))
}

/// The accepted answers of a run's suites, as far as there are any.
pub(crate) fn read_answers(run: &RunData) -> Result<Vec<AcceptedAnswers>> {
    existing(files(run)?.into_iter().map(|file| {
        Ok(read_accepted_answers(&file.answers)?.map(|mut answers| {
            answers.header.suite.clone_from(&file.suite.name);
            answers
        }))
    }))
}

fn existing<T>(read: impl Iterator<Item = Result<Option<T>>>) -> Result<Vec<T>> {
    read.filter_map(Result::transpose).collect()
}
