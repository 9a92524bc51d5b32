//! A trial whose agent has MCP servers: their session begins before the agent is called, and ends after its graders.

use std::path::PathBuf;

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::Mcp;

use crate::agents::McpMode;
use crate::agents::command::cli_agent::ResolvedCommand;
use crate::agents::mcp::{McpSession, McpTrial};
use crate::platform::digest::case_key;
use crate::platform::environment;
use crate::record::cassette::{Placeholders, cassette_path};
use crate::record::mcp::{MCP_FILE, McpRecording};
use crate::run::plan::Plan;
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt};

/// Begins the session of an agent that has servers.
pub(crate) fn begin(trial: &TrialAttempt<'_>, command: &ResolvedCommand<'_>) -> Result<Option<McpSession>, EarlyEnd> {
    let Some(mcp) = &command.target.mcp else { return Ok(None) };
    let plan = trial.plan;
    let mode = plan.settings.mcp.unwrap_or(if mcp.replay { McpMode::Replay } else { McpMode::Live });
    let about = McpRecording {
        schema: McpRecording::SCHEMA.to_owned(),
        suite: plan.suite.name.to_owned(),
        case_id: plan.entry.id.to_owned(),
        target: plan.identity.target.clone(),
        trial: trial.index,
        servers: [].into(),
    };
    let session = McpTrial {
        directory: trial.directory.join("mcp"),
        mode,
        files: recordings(plan, trial.index, mode, mcp)?,
        about,
        placeholders: placeholders(trial),
        redactor: plan.redactor.clone(),
        hint: format!("to record it: `EVALSUITE_MCP=record {}`", plan.rerun()),
    };
    Ok(Some(McpSession::begin(mcp, session)?))
}

/// Ends the session. Returns why the trial is an error: a request is not in the recording, whatever the agent made of the answer that said so.
pub(crate) fn end(trial: &TrialAttempt<'_>, session: Option<&McpSession>, is_decided: bool) -> Option<Reason> {
    let ended = session?.end(is_decided);
    trial.add_notes(ended.notes);
    Some(Reason::new(Stage::Agent, ReasonCode::RecordingStale, ended.unknown?))
}

/// The file that is written; or those that a replay looks for: that of the trial, then that of the first one, which also answers further
/// trials.
fn recordings(plan: &Plan<'_>, index: u32, mode: McpMode, mcp: &Mcp) -> Result<Vec<PathBuf>, Reason> {
    let file = |target: &str, index| {
        let key = case_key(plan.suite.name, target, plan.entry.id);
        let cassettes = plan.settings.cassettes.as_deref();
        Ok(cassette_path(plan.suite, &key, index, cassettes, &plan.places)?.with_extension(MCP_FILE))
    };
    match (mode, &mcp.recorded_by) {
        (McpMode::Live, _) => Ok(Vec::new()),
        (McpMode::Record, _) => Ok(vec![file(&plan.identity.target, index)?]),
        (McpMode::Replay, recorded_by) => {
            let target = recorded_by.as_ref().unwrap_or(&plan.identity.target);
            Ok(vec![file(target, index)?, file(target, 0)?])
        }
    }
}

/// What a recording hides: the variables of the case, all keys in the environment, and the directories of this machine.
fn placeholders(trial: &TrialAttempt<'_>) -> Placeholders {
    let plan = trial.plan;
    let keys = environment::names_of_keys();
    let secrets = plan.secrets.iter().chain(&keys).map(String::as_str);
    Placeholders::of_trial(secrets, &plan.redactor, &plan.places, &trial.directory, &trial.workspace)
}
