//! Runs named on the command line, and where runs are stored.

use std::env;
use std::path::{Path, PathBuf};

use evalsuite_records::run_directory::{LATEST, OutputDirectory, StoredRun};

use crate::platform::cli_error::{CliError, Result};

/// The run with this id or path.
pub(crate) fn find(run: &str) -> Result<StoredRun> {
    // An id is not a path, and a path of one component is more likely an id.
    if Path::new(run).components().count() > 1
        && let Some(run) = open(Path::new(run))
    {
        return Ok(run);
    }
    let path = output_path()?;
    let output = OutputDirectory::new(&path);
    let id = match run {
        LATEST => match newest(&output)? {
            Some(id) => id,
            None => return Err(CliError::new(format!("there are no runs in {}", path.display()))),
        },
        id => id.to_owned(),
    };
    let runs = output.runs_directory();
    output.run(&id).ok_or_else(|| CliError::new(format!("there is no run `{id}` in {}", runs.display())))
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
