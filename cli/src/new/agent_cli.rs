//! `cargo evalsuite new agent-cli`.

use std::io::Write;

use evalsuite_schema::Value;

use super::changes::Changes;
use super::package_here::PackageHere;
use super::questions::Question;
use crate::new::arguments::NewAgentCli;
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
    let targets = include_str!("../../assets/new/targets_file.yaml");
    let targets = targets.replace("{command}", &Value::from(command).to_string());
    changes.create(suite.path.join("targets.yaml"), targets);
    let name = suite.path.file_name().unwrap_or_default().to_string_lossy().replace('-', "_");
    let (entry, module) = (&suite.entry, format!("{name}_cli"));
    let test = format!(
        "//! Runs `{entry}` with the command of its targets file.\n\n\
         evalsuite::include_eval_suite!({entry:?}, agent = \"cli\", name = {module});\n"
    );
    changes.create(package.root.join(format!("tests/{module}.rs")), test);
    let mut manifest = package.manifest;
    manifest.add_feature("cli-agents");
    manifest.add_feature("sealed");
    manifest.write(&mut changes);
    changes.write(arguments.force)?;
    writeln!(stdout(), "\n`cargo test --test {module}` runs the suite with the command.")?;
    Ok(())
}
