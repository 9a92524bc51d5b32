//! The targets file: agents and judges that are commands.

use serde::{Deserialize, Serialize};

use crate::{Location, PathRef};

/// A checked targets.yaml: agents that are commands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetsFile {
    /// The entries, in order, with unique names.
    pub targets: Vec<TargetEntry>,
}

/// One entry of a targets.yaml.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetEntry {
    /// Name of the target.
    pub name: String,
    /// Where the entry is.
    pub location: Location,
    /// What the entry is.
    pub provider: Provider,
}

/// What a [`TargetEntry`] is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Another entry. A name with `${{ NAME }}` is resolved when a run starts.
    Alias(String),
    /// A command.
    Cli(Box<CliTarget>),
    /// A provider that needs a Rust agent.
    Other(String),
}

/// A command that is an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CliTarget {
    /// Shell command with placeholders such as `{PROMPT}`.
    pub command: String,
    /// Working directory if the case has no workspace; `None`: an empty directory. One with `${{ NAME }}` is resolved
    /// when the command runs, relative to the directory of the targets file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathRef>,
    /// Whether the suite's directory is the working directory if the case has no workspace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_suite_directory: bool,
    /// Limit in seconds if the case sets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<f64>,
    /// How one input file is rendered: text with `{path}` and `{basename}`.
    pub files_format: String,
    /// Asked once per run, before the first trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healthcheck: Option<HealthCheck>,
    /// Added to the environment of the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// Whether prompt and output files are kept.
    pub keep_temp_files: bool,
    /// Whether the command line is logged.
    pub verbose: bool,
    /// Whether one process is asked to answer all cases, which is not supported: such a target cannot be run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub provider_batching: bool,
}

/// How the health of a target is checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HealthCheck {
    /// The question.
    pub probe: Probe,
    /// Limit in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<f64>,
}

/// What a [`HealthCheck`] checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Probe {
    /// A URL that has to answer with success.
    Url(String),
    /// A command that has to exit with 0.
    Command {
        /// Shell command.
        command: String,
        /// Working directory, as that of the command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<PathRef>,
    },
}
