//! Takes the place of `acp` in a build without the feature: no agent speaks the Agent Client Protocol.

use std::path::PathBuf;

use evalsuite_records::record::Note;
use evalsuite_schema::AcpTarget;

use crate::agents::command::cli_agent::ResolvedCommand;
use crate::agents::{CommandCall, CommandFailure};
use crate::model::agent_report::Recording;
use crate::model::outcome::Outcome;

#[derive(Default)]
pub(crate) struct AcpSession {}

pub(crate) struct AcpAnswer {
    pub(crate) result: Result<Outcome, CommandFailure>,
    pub(crate) recording: Recording,
    pub(crate) notes: Vec<Note>,
}

impl AcpSession {
    #[allow(clippy::unused_self, reason = "the same signature as with the feature")]
    pub(crate) fn turn(
        &self,
        _command: &ResolvedCommand<'_>,
        _target: &AcpTarget,
        _ask: &CommandCall<'_>,
        _media: Vec<(PathBuf, String)>,
        _is_last: bool,
    ) -> AcpAnswer {
        // No target is chosen that needs the feature.
        let message = "agents that speak the Agent Client Protocol need the feature `acp` of evalsuite".to_owned();
        AcpAnswer { result: Err(CommandFailure::Failed(message)), recording: Recording::default(), notes: Vec::new() }
    }
}
