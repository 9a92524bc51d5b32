//! The source of a trial's workspace.

use std::path::PathBuf;

use crate::workspace::BaseFacts;

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
