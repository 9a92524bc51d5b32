//! `cargo evalsuite new agent-cli` and `new agent-acp`: a targets file with an agent, and the test file that uses it.

use std::io::Write;
use std::path::Path;

use evalsuite_loader::names::segment;
use evalsuite_loader::workspace_root;
use evalsuite_schema::Value;

use super::package::{Changes, CrateSource, PackageHere};
use super::{NewAgentAcp, NewAgentCli, Question};
use crate::platform::exit_status::Result;
use crate::platform::output::stdout;

/// An agent that repeats the question.
const ECHO: &str = "cp {PROMPT_FILE} {OUTPUT_FILE}";

const CLI: AgentKind = AgentKind {
    agent: "cli",
    targets: include_str!("../../assets/new/targets_file.yaml"),
    who: "the command",
    features: &["cli-agents", "sealed"],
    command: "Command that reads {PROMPT_FILE} and writes the answer to {OUTPUT_FILE}",
    default: Some(ECHO),
};

const ACP: AgentKind = AgentKind {
    agent: "acp",
    targets: include_str!("../../assets/new/acp_targets_file.yaml"),
    who: "the agent",
    features: &["acp", "sealed"],
    command: "Command that starts an agent which speaks the Agent Client Protocol",
    default: None,
};

pub(super) fn write_cli(arguments: &NewAgentCli) -> Result<()> {
    CLI.write(arguments.suite.as_deref(), arguments.command.as_deref(), arguments.force)
}

pub(super) fn write_acp(arguments: &NewAgentAcp) -> Result<()> {
    ACP.write(arguments.suite.as_deref(), arguments.command.as_deref(), arguments.force)
}

/// What the files of a kind of agent say.
struct AgentKind {
    /// The value of `agent` in the macro.
    agent: &'static str,
    /// The targets file, with `{command}`.
    targets: &'static str,
    /// Who answers, in the description of the test file.
    who: &'static str,
    features: &'static [&'static str],
    /// The question for the command.
    command: &'static str,
    /// The command without an answer.
    default: Option<&'static str>,
}

impl AgentKind {
    fn write(&self, suite: Option<&Path>, command: Option<&str>, force: bool) -> Result<()> {
        let package = PackageHere::find()?;
        let suite = package.suite(suite)?;
        let question = Question { text: self.command, argument: "--command", default: self.default };
        let command = question.answer(command)?;
        let mut changes = Changes::new(&package.root);
        let targets = self.targets.replace("{command}", &Value::from(command).to_string());
        changes.create(suite.path.join("targets.yaml"), targets);
        let name = suite.path.file_name().unwrap_or_default().to_string_lossy();
        let (entry, agent, who) = (&suite.entry, self.agent, self.who);
        let module = segment(&format!("{name}_{agent}"));
        let test = format!(
            "//! Runs `{entry}` with {who} of its targets file.\n\n\
             evalsuite::include_eval_suite!({entry:?}, agent = {agent:?}, name = {module});\n"
        );
        changes.create(package.root.join(format!("tests/{module}.rs")), test);
        let mut manifest = package.manifest;
        if !manifest.has_evalsuite() {
            manifest.add_evalsuite(&CrateSource::of_this_program(), &workspace_root(&package.root));
        }
        for feature in self.features {
            manifest.add_feature(feature);
        }
        manifest.write(&mut changes);
        changes.write(force)?;
        writeln!(stdout(), "\n`cargo test --test {module}` runs the suite with {who}.")?;
        Ok(())
    }
}
