//! `cargo evalsuite new agent-cli` and `new agent-acp`: a targets file with an agent, and the test file that uses it.

use std::io::Write;
use std::path::Path;

use evalsuite_schema::Value;

use super::arguments::Question;
use super::package::{Changes, PackageHere};
use crate::new::arguments::{NewAgentAcp, NewAgentCli};
use crate::platform::cli_error::Result;
use crate::platform::output::stdout;

/// An agent that repeats the question.
const ECHO: &str = "cp {PROMPT_FILE} {OUTPUT_FILE}";

pub(super) fn write_cli(arguments: &NewAgentCli) -> Result<()> {
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

pub(super) fn write_acp(arguments: &NewAgentAcp) -> Result<()> {
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

/// What the files of a kind of agent say.
pub(super) struct TargetTest<'a> {
    /// The value of `agent` in the macro.
    pub(super) agent: &'static str,
    /// The targets file, with `{command}`.
    pub(super) targets: &'static str,
    /// Who answers, in the description of the test file.
    pub(super) who: &'static str,
    pub(super) features: &'static [&'static str],
    pub(super) suite: Option<&'a Path>,
    /// The command as given, else the answer to the question.
    pub(super) command: Option<&'a str>,
    pub(super) question: Question<'a>,
    pub(super) force: bool,
}

impl TargetTest<'_> {
    pub(super) fn write(&self) -> Result<()> {
        let package = PackageHere::find()?;
        let suite = package.suite(self.suite)?;
        let command = self.question.answer(self.command)?;
        let mut changes = Changes::new(&package.root);
        let targets = self.targets.replace("{command}", &Value::from(command).to_string());
        changes.create(suite.path.join("targets.yaml"), targets);
        let name = suite.path.file_name().unwrap_or_default().to_string_lossy().replace('-', "_");
        let (entry, agent, who) = (&suite.entry, self.agent, self.who);
        let module = format!("{name}_{agent}");
        let test = format!(
            "//! Runs `{entry}` with {who} of its targets file.\n\n\
             evalsuite::include_eval_suite!({entry:?}, agent = {agent:?}, name = {module});\n"
        );
        changes.create(package.root.join(format!("tests/{module}.rs")), test);
        let mut manifest = package.manifest;
        for feature in self.features {
            manifest.add_feature(feature);
        }
        manifest.write(&mut changes);
        changes.write(self.force)?;
        writeln!(stdout(), "\n`cargo test --test {module}` runs the suite with {who}.")?;
        Ok(())
    }
}
