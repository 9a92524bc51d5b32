//! The arguments of `new`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Write a suite, a case, a grader, a targets file, a calibration or settings of an editor into a package
///
/// Without a word after `new`, a suite. What the arguments leave open is asked on a terminal. Prints what was created and changed;
/// files that are there stay as they are. Exit status: 0 on success, 2 if nothing was written.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite new\n  cargo evalsuite new suite shop --layout tasks --ci\n  cargo evalsuite new case refund --input \"Money back!\" --contains refund\n  cargo evalsuite new grader polite"
)]
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
    Calibration(NewCalibration),
    Ci(NewCi),
    Editor(NewEditor),
}

/// A suite with a case that passes and a case that fails, its test file, build script and dependencies
#[derive(Debug, Default, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite new suite\n  cargo evalsuite new suite shop --layout tasks --nextest"
)]
pub(crate) struct NewSuite {
    /// Name of the suite: it is written to suites/NAME [default: basics]
    pub(crate) name: Option<String>,
    /// Layout of the files [default: cases]
    #[arg(long, value_enum)]
    pub(crate) layout: Option<LayoutName>,
    /// Add the profile `ci` to .config/nextest.toml
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Add a GitHub Actions workflow and its nextest profile, as `new ci` does
    #[arg(long)]
    pub(crate) ci: bool,
    /// Add JSON Schemas, and the settings of VS Code that name them
    #[arg(long)]
    pub(crate) editor: bool,
    /// Clone of evalsuite whose crates are used instead of the published ones
    #[arg(long, value_name = "DIR")]
    pub(crate) crates: Option<PathBuf>,
    /// Overwrite files
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutName {
    /// EVAL.yaml, and a directory per case with case.yaml
    Cases,
    /// suite.json, and a JSON file per task
    Tasks,
}

/// A case of a suite
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite new case refund --input \"Money back!\" --contains refund\n  cargo evalsuite new case polite --input \"Late!\" --criteria \"Stays polite.\""
)]
pub(crate) struct NewCase {
    /// Id of the case
    pub(crate) id: Option<String>,
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// What the agent is asked
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// Text that the answer has to contain
    #[arg(long, value_name = "TEXT")]
    pub(crate) contains: Option<String>,
    /// What a judge checks, instead of a text
    #[arg(long, value_name = "TEXT", conflicts_with = "contains")]
    pub(crate) criteria: Option<String>,
    /// Overwrite files
    #[arg(long)]
    pub(crate) force: bool,
}

/// A grader in Rust: a function, and its name in the call that includes the suite
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite new grader polite --suite suites/shop")]
pub(crate) struct NewGrader {
    /// Name of the function
    pub(crate) name: Option<String>,
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
}

/// A targets file with a command as the agent, and a test file that uses it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite new agent-cli --command \"my-agent {PROMPT_FILE} {OUTPUT_FILE}\"")]
pub(crate) struct NewAgentCli {
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Command that reads {PROMPT_FILE} and writes the answer to {OUTPUT_FILE} [default: one that repeats the prompt]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Overwrite files
    #[arg(long)]
    pub(crate) force: bool,
}

/// A calibration of the suite's judge, with two samples
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite new calibration --suite suites/shop")]
pub(crate) struct NewCalibration {
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Overwrite files
    #[arg(long)]
    pub(crate) force: bool,
}

/// A GitHub Actions workflow that checks and runs the suites, and the nextest profile `ci`
///
/// The workflow is for the whole workspace. An existing profile `ci` is not changed.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite new ci")]
pub(crate) struct NewCi {
    /// Overwrite an existing workflow
    #[arg(long)]
    pub(crate) force: bool,
}

/// JSON Schemas of suites, and the settings of VS Code that name them
///
/// Writes `.evalsuite/schema` and adds to `.vscode/settings.json` of the workspace what it lacks. Comments and other settings stay.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite new editor")]
pub(crate) struct NewEditor {
    /// Overwrite schemas, and entries of the settings that name them
    #[arg(long)]
    pub(crate) force: bool,
}
