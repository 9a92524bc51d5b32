//! The directory that trials get copies of.

use std::path::Path;

use evalsuite_schema::{Workspace, record::Reason};
use serde::{Deserialize, Serialize};

use crate::{
    model::suite_location::Places,
    platform::process::echo::Echo,
    workspace::{at, copy::Copy, discard, repos, template::materialise, workspace_error},
};

/// What a reset has to know about a base.
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

/// Makes a base anew: copies of the template, then the repositories.
///
/// # Errors
///
/// What could not be copied or cloned.
pub(crate) fn build(
    workspace: Option<&Workspace>,
    directory: &Path,
    places: &Places,
    echo: Echo,
) -> Result<(), Reason> {
    discard(directory).map_err(|error| workspace_error(at(directory, &error)))?;
    materialise(workspace, directory, places).map_err(workspace_error)?;
    let repos = workspace.map_or(&[][..], |workspace| &workspace.repos);
    repos.iter().try_for_each(|repo| repos::clone(repo, directory, places, echo))
}

impl BaseFacts {
    /// Looks at a base when it is finished, after the hook that works on it.
    pub(crate) fn of(workspace: Option<&Workspace>, directory: &Path, echo: Echo) -> Self {
        let repos = workspace.map_or(&[][..], |workspace| &workspace.repos).iter();
        // A repository the hook has taken away cannot be reset.
        let fact = |path: &String| {
            let commit = repos::head(&directory.join(repos::relative(path)), echo).ok()?;
            Some(BaseRepo { path: path.clone(), commit })
        };
        Self { repos: repos.filter_map(|repo| fact(&repo.path)).collect() }
    }
}

/// Makes a trial's own copy of a base, with the `.git` of its repositories.
///
/// # Errors
///
/// What could not be copied.
pub(crate) fn copy_to_trial(base: &Path, target: &Path) -> Result<(), String> {
    discard(target).map_err(|error| at(target, &error))?;
    std::fs::create_dir_all(target).map_err(|error| at(target, &error))?;
    Copy::Whole.run(base, target)
}
