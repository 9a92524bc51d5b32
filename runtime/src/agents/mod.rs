//! Calls of agents that are commands of a targets file or speak the Agent Client Protocol, and transcripts from the spans of instrumented
//! agents. What a command is asked, and what it answers, is also in builds without commands, where nothing is asked.

#[cfg_attr(not(feature = "acp"), path = "without_acp.rs")]
pub(crate) mod acp;
#[cfg_attr(not(feature = "cli-agents"), path = "without_command.rs")]
pub(crate) mod command;
#[cfg_attr(not(feature = "mcp"), path = "without_mcp.rs")]
pub(crate) mod mcp;
#[cfg_attr(not(feature = "capture"), path = "without_capture.rs")]
pub(crate) mod spans;

use std::path::{Path, PathBuf};
use std::time::Duration;

use evalsuite_records::record::Note;

use crate::agents::mcp::McpSession;
use crate::model::command::CommandEnvironment;
use crate::model::evals::Evals;
use crate::model::outcome::Outcome;
use crate::platform::redaction::Redactor;
use crate::platform::sealed::SealedStart;
use crate::platform::untrusted::UntrustedDirectory;

/// Largest output of an agent that is read, in bytes.
pub(crate) const OUTPUT_LIMIT: u64 = 16 << 20;

impl Evals {
    /// Allows commands of the targets file to judge where a grader or `EVALSUITE_JUDGE_TARGET` names one, even if no agent is a command.
    /// Has no effect without the feature `cli-agents`.
    pub fn with_command_judges(mut self) -> Self {
        self.judge_commands = command::loader();
        self
    }
}

/// Whether servers are started, and recorded for replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpMode {
    /// They are started.
    Live,
    /// They are started, and their answers are recorded for replays.
    Record,
    /// Their recorded answers take their place.
    Replay,
}

impl McpMode {
    /// The words of the setting.
    pub(crate) const WORDS: [(&str, Option<Self>); 4] =
        [("", None), ("live", Some(Self::Live)), ("record", Some(Self::Record)), ("replay", Some(Self::Replay))];
}

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
