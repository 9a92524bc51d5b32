//! The baselines and accepted answers that the packages of a run's suites store.

use std::path::PathBuf;

use evalsuite_records::baseline::{accepted_answers_file, baseline_file, own_baseline_files};
use evalsuite_records::record::{AcceptedAnswers, Baseline};
use evalsuite_report::baseline::{read_accepted_answers, read_baseline};
use evalsuite_report::{RunData, SuiteData};

use crate::locate::workspace_packages::WorkspacePackages;
use crate::platform::cli_error::{CliError, Result};

/// The files for the baseline and the accepted answers of a suite, which need not exist.
pub(crate) struct BaselineFile<'a> {
    pub(crate) suite: &'a SuiteData,
    pub(crate) path: PathBuf,
    pub(crate) answers: PathBuf,
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
pub(super) fn read(run: &RunData) -> Result<Vec<Baseline>> {
    read_existing(run, |file| {
        let mut baseline = read_baseline(&file.path)?;
        baseline.iter_mut().for_each(|baseline| baseline.header.suite.clone_from(&file.suite.name));
        Ok(baseline)
    })
}

/// The accepted answers of a run's suites, as far as there are any.
pub(super) fn read_answers(run: &RunData) -> Result<Vec<AcceptedAnswers>> {
    read_existing(run, |file| {
        let mut answers = read_accepted_answers(&file.answers)?;
        answers.iter_mut().for_each(|answers| answers.header.suite.clone_from(&file.suite.name));
        Ok(answers)
    })
}

fn read_existing<T>(run: &RunData, read: impl Fn(&BaselineFile<'_>) -> Result<Option<T>>) -> Result<Vec<T>> {
    files(run)?.iter().filter_map(|file| read(file).transpose()).collect()
}
