//! Agents of a targets file that speak the Agent Client Protocol (agentclientprotocol.com), version 1.
//!
//! The protocol is read and written here as JSON, without its official crates: they enable `serde_json/preserve_order`, which changes the
//! order of keys in the agent under test too, and they do not hand out messages that are invalid or too large. A workspace of its own,
//! `examples/clients`, tests this client with an agent built with the official crate.

pub(crate) mod agent_process;
pub(crate) mod json_rpc;
pub(crate) mod requests;
pub(crate) mod session;
pub(crate) mod session_files;
pub(crate) mod transcript;
pub(crate) mod turns;

pub(crate) use self::turns::AcpSession;

use crate::agents::command::targets_file;
use crate::model::agent::{Bound, BoundAgent, IntoAgent};

/// Agents of a targets file that speak the [Agent Client Protocol](https://agentclientprotocol.com), and commands; see `agent = "acp"` of
/// `include_eval_suite!`.
///
/// The entry of the nearest targets.yaml with the name of the trial's target defines the agent:
///
/// ```yaml
/// targets:
///   - name: default
///     provider: acp
///     command: my-agent --acp
///     permissions: allow                              # or deny, or a list of rules
///     timeout_seconds: 120                            # where the case sets none
///     env: { API_KEY: "${{ MY_KEY }}" }
/// ```
///
/// The command runs in a shell, in the workspace of the case, else in the target's `cwd`, else in an empty workspace. The directory is also
/// that of the session. Messages, thoughts, tool calls, plans, permissions and usage become the transcript as they arrive. The turns of a
/// conversation are turns of one session.
///
/// ```
/// # fn bind(evals: evalsuite::Evals) -> evalsuite::Evals {
/// evals.with_agent(evalsuite::AcpAgents)
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct AcpAgents;

/// Marks [`AcpAgents`].
#[derive(Debug)]
pub struct AcpAgent;

// Functions that are not agents are not a misspelled `AcpAgents`.
#[diagnostic::do_not_recommend]
impl IntoAgent<AcpAgent> for AcpAgents {
    fn into_agent(self) -> BoundAgent {
        BoundAgent(Bound::Commands(targets_file::load))
    }
}
