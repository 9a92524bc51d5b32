//! `cargo evalsuite new`: writes suites, cases, graders, targets of commands, calibrations and settings of CI and editors into a package.

mod agent;
mod case;
mod ci_and_editor;
mod package;
mod suite;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::platform::exit_status::{CliError, CommandStatus, Result};

/// Create a suite, a case, a grader, or settings of CI and editors
///
/// Without a subcommand, creates a suite. On a terminal, asks for missing arguments. Prints the files that were created and changed;
/// existing files are not overwritten. Exit status: 0 on success, 2 if nothing was written.
#[derive(Debug, Args)]
pub(crate) struct New {
    #[command(subcommand)]
    pub(crate) item: Option<NewItem>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NewItem {
    Suite(NewSuite),
    Case(NewCase),
    Grader(NewGrader),
    AgentCli(NewAgentCli),
    AgentAcp(NewAgentAcp),
    Calibration(NewCalibration),
    Ci(NewCi),
    Editor(NewEditor),
}

/// Create a suite with a passing and a failing case, its test file, build script and dependencies
///
/// If the suite exists, `--ci`, `--nextest` and `--editor` add their settings and leave the suite unchanged.
#[derive(Debug, Default, Args)]
#[command(after_help = crate::arguments::examples("new suite"))]
pub(crate) struct NewSuite {
    /// Name of the suite, which is created in suites/NAME, or of the skill, in skills/NAME [default: basics]
    pub(crate) name: Option<String>,
    /// Layout of the suite [default: cases]
    #[arg(long, value_enum)]
    pub(crate) layout: Option<LayoutName>,
    /// Add the profile `ci` to .config/nextest.toml
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Add a GitHub Actions workflow and its nextest profile, as `new ci` does
    #[arg(long)]
    pub(crate) ci: bool,
    /// Add JSON Schemas and VS Code settings, as `new editor` does
    #[arg(long)]
    pub(crate) editor: bool,
    /// Do not add `debug = false` for dependencies to the dev profile in Cargo.toml of the workspace
    ///
    /// Without debug info of dependencies, test programs are a third of the size, and builds are faster. An existing setting of
    /// `debug` is never changed.
    #[arg(long)]
    pub(crate) keep_debug_info: bool,
    /// Depend on the crates in this clone of evalsuite instead of the published ones [default: the clone that this program was built in]
    #[arg(long, value_name = "DIR")]
    pub(crate) crates: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutName {
    /// EVAL.yaml, and a directory with case.yaml per case
    Cases,
    /// suite.json, and a JSON file per case
    Tasks,
    /// An Agent Skill: SKILL.md, and its evals in evals/evals.json
    Skill,
}

/// Create a case in a suite
#[derive(Debug, Args)]
#[command(after_help = crate::arguments::examples("new case"))]
pub(crate) struct NewCase {
    /// Id of the case
    pub(crate) id: Option<String>,
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Prompt for the agent
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// Text that the answer must contain
    #[arg(long, value_name = "TEXT")]
    pub(crate) contains: Option<String>,
    /// Criteria that a judge checks, instead of a text
    #[arg(long, value_name = "TEXT", conflicts_with = "contains")]
    pub(crate) criteria: Option<String>,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}

/// Create a grader in Rust: a function, and its name in the call that includes the suite
#[derive(Debug, Args)]
#[command(after_help = crate::arguments::examples("new grader"))]
pub(crate) struct NewGrader {
    /// Name of the function
    pub(crate) name: Option<String>,
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
}

/// Create a targets file whose agent is a command, and a test file that uses it
#[derive(Debug, Args)]
#[command(after_help = crate::arguments::examples("new agent-cli"))]
pub(crate) struct NewAgentCli {
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Command that reads {PROMPT_FILE} and writes its answer to {OUTPUT_FILE} [default: a command that repeats the prompt]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}

/// Create a targets file whose agent speaks the Agent Client Protocol, and a test file that uses it
#[derive(Debug, Args)]
#[command(after_help = crate::arguments::examples("new agent-acp"))]
pub(crate) struct NewAgentAcp {
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Command that starts the agent
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}

/// Create a calibration for the judge of a suite, with two samples
#[derive(Debug, Args)]
#[command(after_help = crate::arguments::examples("new calibration"))]
pub(crate) struct NewCalibration {
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}

/// Create a GitHub Actions workflow that checks and runs all suites, and the nextest profile that it uses
///
/// An existing profile `ci` in .config/nextest.toml is not changed.
#[derive(Debug, Args)]
#[command(after_help = crate::arguments::examples("new ci"))]
pub(crate) struct NewCi {
    /// Overwrite an existing workflow
    #[arg(long)]
    pub(crate) force: bool,
}

/// Create JSON Schemas of suites, and the VS Code settings that use them
///
/// Writes `.evalsuite/schema`, and adds missing settings to `.vscode/settings.json` of the workspace. Comments and other settings are kept.
#[derive(Debug, Args)]
#[command(after_help = crate::arguments::examples("new editor"))]
pub(crate) struct NewEditor {
    /// Overwrite existing schemas, and the settings that use them
    #[arg(long)]
    pub(crate) force: bool,
}

pub(crate) fn run(command: &New) -> Result<CommandStatus> {
    match &command.item {
        None => suite::write(&Default::default()),
        Some(NewItem::Suite(arguments)) => suite::write(arguments),
        Some(NewItem::Case(arguments)) => case::write(arguments),
        Some(NewItem::Grader(arguments)) => case::write_grader(arguments),
        Some(NewItem::AgentCli(arguments)) => agent::write_cli(arguments),
        Some(NewItem::AgentAcp(arguments)) => agent::write_acp(arguments),
        Some(NewItem::Calibration(arguments)) => case::write_calibration(arguments),
        Some(NewItem::Ci(arguments)) => ci_and_editor::write_ci(arguments),
        Some(NewItem::Editor(arguments)) => ci_and_editor::write_editor(arguments),
    }?;
    Ok(CommandStatus::Good)
}

/// A question about an argument that was not given.
pub(super) struct Question<'q> {
    /// What is asked, without a question mark.
    pub(super) text: &'q str,
    /// The argument that answers it.
    pub(super) argument: &'q str,
    /// What an empty answer and the end of the input mean, and the answer without a terminal.
    pub(super) default: Option<&'q str>,
}

impl Question<'_> {
    /// The given answer, else that of the user.
    pub(super) fn answer(&self, given: Option<&str>) -> Result<String> {
        if let Some(given) = given {
            return Ok(given.to_owned());
        }
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            return self.ask(&mut io::stdin().lock(), &mut anstream::stderr().lock());
        }
        self.default.map(str::to_owned).ok_or_else(|| self.without_answer())
    }

    fn ask(&self, input: &mut impl BufRead, out: &mut impl Write) -> Result<String> {
        loop {
            let default = self.default.map(|default| format!(" [{default}]")).unwrap_or_default();
            write!(out, "{}{default}: ", self.text)?;
            out.flush()?;
            let mut line = String::new();
            let is_end = input.read_line(&mut line)? == 0;
            match (line.trim(), self.default) {
                ("", Some(default)) => return Ok(default.to_owned()),
                ("", None) if is_end => return Err(self.without_answer()),
                ("", None) => {}
                (answer, _) => return Ok(answer.to_owned()),
            }
        }
    }

    fn without_answer(&self) -> CliError {
        let mut text = self.text.chars();
        let first = text.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
        let message = format!("`{}` is missing: {first}{}", self.argument, text.as_str());
        CliError::new(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(default: Option<&str>, typed: &str) -> (Option<String>, String) {
        let question = Question { text: "Name of the suite", argument: "NAME", default };
        let mut out = Vec::new();
        let answer = question.ask(&mut typed.as_bytes(), &mut out);
        (answer.ok(), String::from_utf8(out).expect("UTF-8"))
    }

    #[test]
    fn an_empty_answer_is_the_default() {
        assert_eq!(ask(Some("basics"), "\n"), (Some("basics".into()), "Name of the suite [basics]: ".into()));
        assert_eq!(ask(Some("basics"), " shop \n").0, Some("shop".into()));
        assert_eq!(ask(Some("basics"), "").0, Some("basics".into()), "the input has ended");
    }

    #[test]
    fn without_a_default_the_question_is_repeated() {
        let (answer, shown) = ask(None, "\n\nshop\n");
        assert_eq!(answer, Some("shop".into()));
        assert_eq!(shown.matches("Name of the suite: ").count(), 3);
        assert_eq!(ask(None, "\n").0, None, "the input has ended");
    }
}
