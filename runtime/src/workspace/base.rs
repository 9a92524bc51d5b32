//! Base workspaces, which are copied for trials.

use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_records::record::Reason;
use evalsuite_schema::Workspace;
use serde::{Deserialize, Serialize};

use crate::model::suite_location::SuiteLocation;
use crate::platform::files::error_at;
use crate::platform::process::echo::Echo;
use crate::workspace::copy::CopyMode;
use crate::workspace::template::materialise;
use crate::workspace::{remove_directory, repos, workspace_error};

/// The state of a base workspace that a reset returns to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct BaseFacts {
    /// Repositories by their path in the workspace.
    pub(crate) repos: Vec<BaseRepo>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BaseRepo {
    pub(crate) path: String,
    pub(crate) commit: String,
}

/// The source of a trial's workspace.
#[derive(Debug, Clone)]
pub(crate) enum WorkspaceBase {
    /// A copy of the template; without a template, the workspace is empty.
    Template,
    /// A copy of a base.
    Copied { directory: PathBuf, facts: BaseFacts },
    /// The base itself, which all trials use. `pristine` is a copy for resets.
    Shared { directory: PathBuf, pristine: PathBuf, facts: BaseFacts },
}

/// Makes a base workspace from nothing: copies of the template, then the repositories.
pub(crate) fn build(
    workspace: &Workspace,
    directory: &Path,
    location: &SuiteLocation,
    echo: Echo,
) -> Result<(), Reason> {
    remove_directory(directory).map_err(|error| workspace_error(&error_at(directory, &error)))?;
    materialise(Some(workspace), directory, location).map_err(|error| workspace_error(&error))?;
    workspace.repos.iter().try_for_each(|repo| repos::clone(repo, directory, location, echo))
}

impl BaseFacts {
    /// The state of a finished base workspace, after its hook.
    pub(crate) fn of(workspace: &Workspace, directory: &Path, echo: Echo) -> Self {
        // A repository that the hook removed cannot be reset.
        let fact = |path: &String| {
            let commit = repos::head(&directory.join(repos::relative(path)), echo).ok()?;
            Some(BaseRepo { path: path.clone(), commit })
        };
        Self { repos: workspace.repos.iter().filter_map(|repo| fact(&repo.path)).collect() }
    }
}

/// Makes a trial's own copy of a base, with the `.git` of its repositories.
pub(crate) fn copy_to_trial(base: &Path, target: &Path) -> io::Result<()> {
    remove_directory(target).map_err(|error| error_at(target, &error))?;
    fs::create_dir_all(target).map_err(|error| error_at(target, &error))?;
    CopyMode::Whole.run(base, target)
}
