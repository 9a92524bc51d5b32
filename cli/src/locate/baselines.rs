//! What the packages of a run's suites store about them: baselines, accepted answers and probes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evalsuite_records::baseline::{accepted_answers_file, baseline_file, own_baseline_files};
use evalsuite_records::probe::read_probe;
#[cfg(feature = "judge")]
use evalsuite_records::record::AcceptedAnswers;
use evalsuite_records::record::{Baseline, ProbeRecord, SuiteId, SuiteRecord};
#[cfg(feature = "judge")]
use evalsuite_report::read_accepted_answers;
use evalsuite_report::{RunData, SuiteData, read_baseline};

use crate::platform::cargo_process::{Packages, metadata, packages};
use crate::platform::cli_error::{CliError, Result};

/// The files for the baseline and the accepted answers of a suite, which need not exist.
pub(crate) struct BaselineFile<'a> {
    pub(crate) suite: &'a SuiteData,
    pub(crate) path: PathBuf,
    pub(crate) answers: PathBuf,
}

/// The packages of this workspace.
struct WorkspacePackages {
    root: PathBuf,
    packages: Packages,
}

impl WorkspacePackages {
    /// Asks cargo.
    fn here() -> Result<Self> {
        let metadata = metadata(Path::new("."))?;
        let root = metadata["workspace_root"].as_str().unwrap_or_default().into();
        Ok(Self { root, packages: packages(&metadata) })
    }

    /// The root of the package that a suite belongs to, by its name, else by its directory, whatever its name was when a run was made.
    fn root_of(&self, suite: &SuiteId) -> Option<&PathBuf> {
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
    read_existing(run, |file| {
        let mut baseline = read_baseline(&file.path)?;
        baseline.iter_mut().for_each(|baseline| baseline.header.suite.clone_from(&file.suite.name));
        Ok(baseline)
    })
}

/// The accepted answers of a run's suites, as far as there are any.
#[cfg(feature = "judge")]
pub(crate) fn read_answers(run: &RunData) -> Result<Vec<AcceptedAnswers>> {
    read_existing(run, |file| {
        let mut answers = read_accepted_answers(&file.answers)?;
        answers.iter_mut().for_each(|answers| answers.header.suite.clone_from(&file.suite.name));
        Ok(answers)
    })
}

fn read_existing<T>(run: &RunData, read: impl Fn(&BaselineFile<'_>) -> Result<Option<T>>) -> Result<Vec<T>> {
    files(run)?.iter().filter_map(|file| read(file).transpose()).collect()
}

/// The probes of a run's suites, as far as there are any: of a suite whose package is not in this workspace there is none. Each names its
/// suite as the run does.
pub(crate) fn read_probes(run: &RunData) -> Result<Vec<ProbeRecord>> {
    // Where there are runs but no packages, as on a machine that only reports, there are no probes either.
    let Ok(packages) = WorkspacePackages::here() else { return Ok(Vec::new()) };
    let mut probes = Vec::new();
    for suite in &run.suites {
        let (Some(root), Some(record)) = (packages.root_of(&suite.id), &suite.record) else { continue };
        if let Some(mut probe) = read_probe(root, &suite.id)? {
            probe.suite.name.clone_from(&suite.name);
            probe.retain_current(&cases_of(suite, record));
            probes.push(probe);
        }
    }
    Ok(probes)
}

/// The cases of a run's suite by id and target, with their digests. Of a case that is not in the run, only its id is known.
fn cases_of<'a>(suite: &'a SuiteData, record: &'a SuiteRecord) -> BTreeMap<(&'a str, Option<&'a str>), Option<String>> {
    let in_run: BTreeMap<_, _> =
        suite.cases.iter().map(|case| (&case.record.test_name, &case.record.case_digest)).collect();
    let tests = record.tests.iter();
    tests
        .map(|test| {
            ((&*test.case_id, test.target.as_deref()), in_run.get(&test.test_name).map(|digest| (*digest).clone()))
        })
        .collect()
}
