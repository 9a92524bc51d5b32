//! Workspaces: the directories agents work in.

pub(crate) mod base;
pub(crate) mod copy;
pub(crate) mod diff;
pub(crate) mod replayable_changes;
pub(crate) mod repos;
pub(crate) mod snapshot;
pub(crate) mod value_placeholders;

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson};

pub(crate) use self::base::{WorkspaceBase, build, copy_to_trial, materialise, replace_skills, restore};
pub(crate) use crate::platform::untrusted::{remove_directory, remove_directory_within};

/// The state of a base workspace that a reset returns to.
#[derive(Debug, Clone, Default, ToJson, FromJsonOverDefault)]
pub(crate) struct BaseFacts {
    /// Repositories by their path in the workspace.
    pub(crate) repos: Vec<BaseRepo>,
}

#[derive(Debug, Clone, ToJson, FromJson)]
pub(crate) struct BaseRepo {
    pub(crate) path: String,
    pub(crate) commit: String,
}

/// The reason of a case whose workspace cannot be made.
pub(crate) fn workspace_error(error: &std::io::Error) -> Reason {
    Reason::new(Stage::Workspace, ReasonCode::WorkspaceError, error.to_string())
}
