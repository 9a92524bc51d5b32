//! Runs named on the command line, and where runs are stored.

use std::env;
use std::path::{Path, PathBuf};

use evalsuite_records::run_directory::{LATEST, OutputDirectory, StoredRun};
use evalsuite_schema::diagnostics::suggest::{did_you_mean, quoted};

use super::suite_request;
use crate::platform::cli_error::{CliError, Result};

/// The run with this id or path.
pub(crate) fn find(run: &str) -> Result<StoredRun> {
    // An id is not a path, and a path of one component is more likely an id.
    if Path::new(run).components().count() > 1
        && let Some(run) = run_or_newest(Path::new(run))?
    {
        return Ok(run);
    }
    if run.contains(['/', '\\']) {
        // Says so if there is nothing at the path.
        suite_request::existing(Path::new(run))?;
        return Err(CliError::new(format!("`{run}` is not the directory of a run")));
    }
    let path = output_path()?;
    let output = OutputDirectory::new(&path);
    let id = match run {
        LATEST => newest(&output)?.ok_or_else(|| no_runs("there are no runs", &path))?,
        id => id.to_owned(),
    };
    match output.run(&id) {
        Some(run) => Ok(run),
        None => Err(no_run(&output, &id)?),
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
