//! `cargo evalsuite new agent-cli`.

use super::questions::Question;
use super::target_test::TargetTest;
use crate::new::arguments::NewAgentCli;
use crate::platform::cli_error::Result;

/// An agent that repeats the question.
const ECHO: &str = "cp {PROMPT_FILE} {OUTPUT_FILE}";

pub(super) fn write(arguments: &NewAgentCli) -> Result<()> {
    let text = "Command that reads {PROMPT_FILE} and writes the answer to {OUTPUT_FILE}";
    TargetTest {
        agent: "cli",
        targets: include_str!("../../assets/new/targets_file.yaml"),
        who: "the command",
        features: &["cli-agents", "sealed"],
        suite: arguments.suite.as_deref(),
        command: arguments.command.as_deref(),
        question: Question { text, argument: "--command", default: Some(ECHO) },
        force: arguments.force,
    }
    .write()
}
