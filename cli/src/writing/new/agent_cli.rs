//! `cargo evalsuite new agent-cli`.

use std::io::Write;

use evalsuite_schema::Value;

use super::changes::Changes;
use super::package_here::PackageHere;
use super::questions::Question;
use crate::command_line::NewAgentCli;
use crate::platform::cli_error::Result;
use crate::platform::output::stdout;

/// An agent that repeats the question.
const ECHO: &str = "cp {PROMPT_FILE} {OUTPUT_FILE}";

pub(super) fn write(arguments: &NewAgentCli) -> Result<()> {
    let package = PackageHere::find()?;
    let suite = package.suite(arguments.suite.as_deref())?;
    let text = "Command that reads {PROMPT_FILE} and writes the answer to {OUTPUT_FILE}";
    let question = Question { text, argument: "--command", default: Some(ECHO) };
    let command = question.answer(arguments.command.as_deref())?;
    let mut changes = Changes::new(&package.root);
    changes.create(suite.path.join("targets.yaml"), targets(&command));
    let module = format!("{}_cli", suite.name().replace('-', "_"));
    changes.create(package.root.join(format!("tests/{module}.rs")), test_file(&suite.entry, &module));
    let mut manifest = package.manifest;
    manifest.add_feature("cli-agents");
    manifest.write(&mut changes);
    changes.write(arguments.force)?;
    writeln!(stdout(), "\n`cargo test --test {module}` runs the suite with the command.")?;
    Ok(())
}

fn targets(command: &str) -> String {
    let command = Value::from(command);
    format!(
        "# The command runs in the workspace of the trial. Its answer is what it writes to {{OUTPUT_FILE}}.\ntargets:\n  - name: default\n    provider: cli\n    command: {command}\n    timeout_seconds: 120\n"
    )
}

fn test_file(entry: &str, module: &str) -> String {
    format!(
        "//! Runs `{entry}` with the command of its targets file.\n\nevalsuite::include_eval_suite!({entry:?}, agent = \"cli\", name = {module});\n"
    )
}
