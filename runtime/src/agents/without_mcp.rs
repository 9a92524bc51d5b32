//! In place of the MCP servers of targets, without the feature `mcp`.

use std::path::{Path, PathBuf};
use std::process::Command;

use evalsuite_records::record::Note;

use crate::model::agent_report::Recording;
use crate::model::outcome::Outcome;

/// There is none.
pub(crate) enum McpSession {}

#[allow(dead_code, reason = "a build without commands has no agent that could have servers")]
impl McpSession {
    pub(crate) fn config(&self) -> PathBuf {
        match *self {}
    }

    pub(crate) fn path(&self) -> &Path {
        match *self {}
    }

    pub(crate) fn programs(&self) -> std::iter::Empty<PathBuf> {
        match *self {}
    }

    #[cfg(feature = "acp")]
    pub(crate) fn session_servers(&self) -> evalsuite_schema::Value {
        match *self {}
    }

    pub(crate) fn add_to(&self, _: &mut Command) {
        match *self {}
    }

    pub(crate) fn add_calls(&self, _: &mut Outcome, _: &mut Recording) -> Vec<Note> {
        match *self {}
    }
}
