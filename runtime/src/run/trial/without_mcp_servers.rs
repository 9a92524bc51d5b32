//! Takes the place of `mcp_servers` in a build without the feature: an agent with servers cannot be called.

use evalsuite_records::record::{Reason, ReasonCode, Stage};

use crate::agents::command::cli_agent::ResolvedCommand;
use crate::agents::mcp::McpSession;
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt};

pub(crate) fn begin(_: &TrialAttempt<'_>, command: &ResolvedCommand<'_>) -> Result<Option<McpSession>, EarlyEnd> {
    if command.target.mcp.is_none() {
        return Ok(None);
    }
    let message = "the target has `mcp`, which needs the feature `mcp` of evalsuite\nhelp: `cargo add --dev evalsuite --features mcp`";
    Err(EarlyEnd::error(Stage::Setup, ReasonCode::TargetUnusable, message))
}

/// No session has begun.
pub(crate) fn end(_: &TrialAttempt<'_>, _: Option<&McpSession>, _: bool) -> Option<Reason> {
    None
}
