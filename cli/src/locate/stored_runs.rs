//! Runs named on the command line, where runs are stored, and what the packages of their suites store: baselines and probes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use evalsuite::tooling::run_id_or_new;
use evalsuite_records::probe_file::read_probe;
use evalsuite_records::record::{ProbeRecord, SuiteId, SuiteRecord};
use evalsuite_records::run_directory::{LATEST, OutputDirectory, StoredRun};
use evalsuite_report::{RunData, SuiteData};
use evalsuite_schema::diagnostics::suggest::{did_you_mean, quoted};

use super::suite_search;
use crate::platform::cargo_process::{Packages, metadata, packages};
use crate::platform::exit_status::{CliError, Result};

/// The run with this id or path.
pub(crate) fn find(run: &str) -> Result<StoredRun> {
    // An id is not a path, and a path of one component is more likely an id.
    if Path::new(run).components().count() > 1
        && let Some(run) = run_or_newest(Path::new(run))?
    {
        return Ok(run);
    }
    let path = output_path()?;
    let output = OutputDirectory::new(&path);
    // The id that a run was given is not always the name of its directory.
    let named = |id: &str| output.run(id).or_else(|| output.run(&run_id_or_new(Some(id))));
    if run.contains(['/', '\\']) {
        if let Some(run) = named(run) {
            return Ok(run);
        }
        // Says so if there is nothing at the path.
        suite_search::existing(Path::new(run))?;
        return Err(CliError::new(format!("`{run}` is not the directory of a run")));
    }
    let id = match run {
        LATEST => newest(&output)?.ok_or_else(|| no_runs("there are no runs", &path))?,
        id => id.to_owned(),
    };
    match named(&id) {
        Some(run) => Ok(run),
        None => Err(no_run(&output, &id)?),
    }
}

/// An error if a run would be compared with itself, which shows no difference whatever its agent does.
pub(crate) fn check_differ(base: &StoredRun, run: &RunData, targets: Option<&(String, String)>) -> Result<()> {
    if fs::canonicalize(base.path())? != fs::canonicalize(&run.directory)? {
        return Ok(());
    }
    match targets {
        Some((base, run)) if base != run => Ok(()),
        Some((target, _)) => Err(CliError::with_help(
            format!("target `{target}` of a run cannot be compared with itself"),
            "name two targets, or an earlier run: `diff BASE --targets A A`",
        )),
        None => Err(CliError::with_help(
            format!("run `{}` cannot be compared with itself", run.run_id),
            "name an earlier run; `cargo evalsuite diff` without a name chooses one",
        )),
    }
}

/// The error that an output directory has no runs, with how to get one.
pub(crate) fn no_runs(what: &str, output: &Path) -> CliError {
    let help = "`cargo evalsuite run` creates one; EVALSUITE_OUTPUT names another output directory";
    CliError::with_help(format!("{what} in {}", output.display()), help)
}

/// The error about an id that no run has, with the ids that were probably meant, else with the newest one.
fn no_run(output: &OutputDirectory, id: &str) -> Result<CliError> {
    let ids: Vec<String> = output.runs_newest_first()?.iter().map(StoredRun::id).collect();
    let parts: Vec<&str> = ids.iter().map(String::as_str).filter(|known| known.contains(id)).collect();
    let help = match (&parts[..], ids.first()) {
        _ if open(Path::new(id)).is_some() => Some(format!("for the directory, write `./{id}`")),
        ([_, ..], _) => Some(format!("did you mean {}?", quoted(&parts[..parts.len().min(3)], "or"))),
        ([], Some(newest)) => did_you_mean(id, ids.iter().map(String::as_str))
            .or_else(|| Some(format!("the newest run is `{newest}`; `cargo evalsuite list --runs` shows the others"))),
        ([], None) => None,
    };
    let runs = output.runs_directory();
    Ok(CliError::with_suggestion(format!("there is no run `{id}` in {}", runs.display()), help))
}

/// The run at a path that the user has named, which may be a link.
fn open(path: &Path) -> Option<StoredRun> {
    let run = StoredRun::open(path)?;
    if path.is_symlink() { StoredRun::open(path.canonicalize().ok()?) } else { Some(run) }
}

/// The id of the newest run. The file with it may be missing beside runs that were copied.
fn newest(output: &OutputDirectory) -> Result<Option<String>> {
    match output.latest()? {
        Some(id) => Ok(Some(id)),
        None => Ok(output.runs_newest_first()?.first().map(StoredRun::id)),
    }
}

/// The run at a path: the path itself, or the newest run of an output directory.
pub(crate) fn run_or_newest(path: &Path) -> Result<Option<StoredRun>> {
    if let Some(run) = open(path) {
        return Ok(Some(run));
    }
    let output = OutputDirectory::new(path);
    Ok(newest(&output)?.and_then(|id| output.run(&id)))
}

/// Path of the output directory of the workspace here.
pub(crate) fn output_path() -> Result<PathBuf> {
    output_path_of(&env::current_dir()?)
}

/// The same for the workspace around a directory.
pub(crate) fn output_path_of(directory: &Path) -> Result<PathBuf> {
    let setting = env::var_os("EVALSUITE_OUTPUT").filter(|output| !output.is_empty()).map(PathBuf::from);
    Ok(OutputDirectory::of_workspace(directory, setting.as_deref())?.path().to_owned())
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
