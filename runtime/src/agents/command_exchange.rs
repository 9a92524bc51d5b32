//! What a command is asked, and what it answers: also in builds without commands, where nothing is asked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use evalsuite_records::record::Note;

use crate::agents::mcp::McpSession;
use crate::model::command::CommandEnvironment;
use crate::model::outcome::Outcome;
use crate::platform::redaction::Redactor;
use crate::platform::sealed::SealedStart;
use crate::platform::untrusted::UntrustedDirectory;

/// A call of a command: the prompt, and where it runs.
#[cfg_attr(not(feature = "cli-agents"), allow(dead_code, reason = "no command is called"))]
pub(crate) struct CommandCall<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) files: &'a [PathBuf],
    pub(crate) case_id: &'a str,
    /// Index of the trial.
    pub(crate) trial: u32,
    /// Where the files of the call go.
    pub(crate) directory: &'a UntrustedDirectory,
    /// Working directory of the command.
    pub(crate) cwd: &'a Path,
    pub(crate) environment: &'a CommandEnvironment,
    pub(crate) limit: Duration,
    /// Who answers.
    pub(crate) writer: Writer,
    /// Keeps the prompt and the output file of a call that succeeds.
    pub(crate) keep: bool,
    pub(crate) redactor: &'a Redactor,
    /// Its MCP servers.
    pub(crate) mcp: Option<&'a McpSession>,
    /// How it starts if it is sealed.
    pub(crate) seal: Option<&'a SealedStart>,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct CommandAnswer {
    pub(crate) result: Result<(), CommandFailure>,
    /// What it reported; of a call that failed, what can be read of that.
    pub(crate) reported: Outcome,
    pub(crate) notes: Vec<Note>,
    /// The command line, if it is logged.
    pub(crate) log: Option<String>,
}

/// Why a call has no answer.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "cli-agents"), allow(dead_code, reason = "no command is called"))]
pub(crate) enum CommandFailure {
    TimedOut(String),
    Failed(String),
}

/// Who wrote an output file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    Agent,
    /// Its reply is a JSON object with keys of its own.
    Judge,
}
