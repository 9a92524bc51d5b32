//! Where the baselines of a run's suites are.

use std::io;
use std::path::{Path, PathBuf};

use evalsuite::record::{accepted_answers_file, baseline_file};
use evalsuite_report::{RunData, SuiteData, read_accepted_answers, read_baseline};
use evalsuite_schema::record::{AcceptedAnswers, Baseline};

use crate::stored_runs::cargo_metadata;

/// The files for the baseline and the accepted answers of a suite, which need not exist.
pub(crate) struct BaselineFile<'a> {
    pub(crate) suite: &'a SuiteData,
    pub(crate) path: PathBuf,
    pub(crate) answers: PathBuf,
}

/// The files for the baselines of a run's suites: each is in the package that the suite belongs to.
///
/// # Errors
///
/// If a package is not in the workspace of the current directory.
pub(crate) fn files(run: &RunData) -> io::Result<Vec<BaselineFile<'_>>> {
    let metadata = cargo_metadata()?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let root = |name: &str| {
        let package = packages.iter().find(|package| package["name"] == name)?;
        Path::new(package["manifest_path"].as_str()?).parent()
    };
    let error = |message: String| io::Error::new(io::ErrorKind::NotFound, message);
    let suites = run.record.iter().flat_map(|record| &record.suites);
    let package_of = |name: &str| suites.clone().find(|suite| suite.name == name).map(|suite| suite.package.as_str());
    let mut files = Vec::new();
    for suite in &run.suites {
        let name = &suite.name;
        let package =
            package_of(name).ok_or_else(|| error(format!("run.json does not name the package of suite `{name}`")))?;
        let root = root(package)
            .ok_or_else(|| error(format!("package `{package}` of suite `{name}` is not in this workspace")))?;
        let (path, answers) = (baseline_file(root, name), accepted_answers_file(root, name));
        files.push(BaselineFile { suite, path, answers });
    }
    Ok(files)
}

/// The baselines of a run's suites, as far as there are any.
///
/// # Errors
///
/// If a package is not in the workspace of the current directory, or a file is not valid.
pub(crate) fn read(run: &RunData) -> io::Result<Vec<Baseline>> {
    existing(files(run)?.into_iter().map(|file| read_baseline(&file.path)))
}

/// The accepted answers of a run's suites, as far as there are any.
///
/// # Errors
///
/// Those of [`read`].
pub(crate) fn read_answers(run: &RunData) -> io::Result<Vec<AcceptedAnswers>> {
    existing(files(run)?.into_iter().map(|file| read_accepted_answers(&file.answers)))
}

fn existing<T>(read: impl Iterator<Item = io::Result<Option<T>>>) -> io::Result<Vec<T>> {
    read.filter_map(io::Result::transpose).collect()
}
