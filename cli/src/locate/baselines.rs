//! Where the baselines of a run's suites are.

use std::path::{Path, PathBuf};

use evalsuite_records::baseline::{accepted_answers_file, baseline_file, own_baseline_files};
use evalsuite_records::record::{AcceptedAnswers, Baseline};
use evalsuite_report::{RunData, SuiteData, read_accepted_answers, read_baseline};

use crate::platform::cargo_process;
use crate::platform::cli_error::{CliError, Result};

/// The files for the baseline and the accepted answers of a suite, which need not exist.
pub(crate) struct BaselineFile<'a> {
    pub(crate) suite: &'a SuiteData,
    pub(crate) path: PathBuf,
    pub(crate) answers: PathBuf,
}

/// The files for the baselines of a run's suites: each is in the package that the suite belongs to.
pub(crate) fn files(run: &RunData) -> Result<Vec<BaselineFile<'_>>> {
    let metadata = cargo_process::metadata(Path::new("."), &["--no-deps"])?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let root = |name: &str| {
        let package = packages.iter().find(|package| package["name"] == name)?;
        Path::new(package["manifest_path"].as_str()?).parent()
    };
    // The package in a directory, whatever its name was when the run was made.
    let workspace = Path::new(metadata["workspace_root"].as_str().unwrap_or_default());
    let renamed = |directory: &str| {
        let directory = (!directory.is_empty()).then(|| workspace.join(directory))?;
        let roots = packages.iter().filter_map(|package| Path::new(package["manifest_path"].as_str()?).parent());
        roots.into_iter().find(|root| root.components().eq(directory.components()))
    };
    let error = |message: String| CliError::new(message);
    let mut files: Vec<BaselineFile<'_>> = Vec::new();
    for suite in &run.suites {
        let (name, package) = (&suite.name, &suite.id.package);
        if package.is_empty() {
            return Err(error(format!("run `{}` does not record the package of suite `{name}`", run.run_id)));
        }
        let root = root(package)
            .or_else(|| renamed(&suite.id.package_directory))
            .ok_or_else(|| error(format!("package `{package}` of suite `{name}` is not in this workspace")))?;
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
