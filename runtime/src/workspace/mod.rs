//! The directories agents work in.

pub(crate) mod base;
pub(crate) mod copy;
pub(crate) mod diff;
pub(crate) mod discard;
pub(crate) mod git;
pub(crate) mod link;
pub(crate) mod path_placeholders;
pub(crate) mod replayable_changes;
pub(crate) mod repos;
pub(crate) mod reset;
pub(crate) mod snapshot;
pub(crate) mod template;
pub(crate) mod tree_walk;
pub(crate) mod workspace_diff;

use evalsuite_schema::record::{Reason, ReasonCode, Stage};

pub(crate) use crate::workspace::{
    base::{BaseFacts, build, copy_to_trial},
    discard::discard,
    reset::{git_reset, restore},
    template::materialise,
};

/// Why a workspace could not be made.
fn workspace_error(message: impl Into<String>) -> Reason {
    Reason::new(Stage::Workspace, ReasonCode::WorkspaceError, message)
}

fn at(path: &std::path::Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
