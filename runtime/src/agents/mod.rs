//! Calls of agents that are commands of a targets file or speak the Agent Client Protocol, and transcripts from the spans of instrumented
//! agents; and what becomes of the MCP servers of targets in a run.

#[cfg_attr(not(feature = "acp"), path = "without_acp.rs")]
pub(crate) mod acp;
#[cfg_attr(not(feature = "cli-agents"), path = "without_command.rs")]
pub(crate) mod command;
pub(crate) mod command_exchange;
#[cfg_attr(not(feature = "mcp"), path = "without_mcp.rs")]
pub(crate) mod mcp;
#[cfg_attr(not(feature = "capture"), path = "without_capture.rs")]
pub(crate) mod spans;

use crate::model::evals::Evals;

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
