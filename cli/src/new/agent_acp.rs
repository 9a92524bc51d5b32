//! `cargo evalsuite new agent-acp`.

use super::questions::Question;
use super::target_test::TargetTest;
use crate::new::arguments::NewAgentAcp;
use crate::platform::cli_error::Result;

pub(super) fn write(arguments: &NewAgentAcp) -> Result<()> {
    let text = "Command that starts an agent which speaks the Agent Client Protocol";
    TargetTest {
        agent: "acp",
        targets: include_str!("../../assets/new/acp_targets_file.yaml"),
        who: "the agent",
        features: &["acp", "sealed"],
        suite: arguments.suite.as_deref(),
        command: arguments.command.as_deref(),
        question: Question { text, argument: "--command", default: None },
        force: arguments.force,
    }
    .write()
}
