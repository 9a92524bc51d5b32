//! The targets file: agents and judges that are commands.

mod acp_target;

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::json::{FromJson, ToJson};
use crate::{Location, Mcp, PathRef, Sealing, is_default};

pub use acp_target::{AcpTarget, PermissionDecision, PermissionRule, Permissions, ToolKind};

/// `targets.yaml`, also below `.evalsuite/` or `.agentv/`: the nearest one from the suite's directory up to the package's.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson, Keys)]
#[json(fill)]
#[keys(id = "targets-file", what = "a targets file", common = keys::SCHEMA_KEY, by_hand)]
pub struct TargetsFile {
    /// Agents, and commands that are judges.
    #[key(List(&OneOf(&[Object(CliTarget::TABLE), Object(AcpTarget::TABLE)])), "[{name: default, provider: cli, command: \"my-agent {PROMPT_FILE}\"}]")]
    #[key(required, by_hand, codes(TargetsFile))]
    pub targets: Vec<TargetEntry>,
}

/// One entry of a targets file.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "target", what = "a target", by_hand)]
#[also(grader_target: Any, "gpt", "The judge.", no_effect = "delete it", by_hand)]
#[also(judge_target: Any, "gpt", "The judge.", no_effect = "delete it", by_hand)]
#[also(workers: Any, "4", "How many trials run at the same time.", no_effect = "delete it", by_hand)]
#[also(max_retries: Any, "2", "How often a call is repeated.", no_effect = "delete it", by_hand)]
#[also(fallback_targets: Any, "[gpt]", "Targets that are used after a failure.", no_effect = "delete it", by_hand)]
#[also(subagent_mode_allowed: Any, "true", "Whether the target may be a subagent.", no_effect = "delete it", by_hand)]
pub struct TargetEntry {
    /// Name of the target.
    #[key(Text, "default", required, codes(TargetsFile))]
    pub name: String,
    /// Where the entry is.
    pub location: Location,
    /// `cli`: a command. `acp`: an agent that speaks the Agent Client Protocol. Other providers need an agent in Rust, and their keys are not read.
    #[also(use_target: Text, "gpt",
        "Another entry that is used under this name, in at most 5 steps. Such an entry has no other keys.",
        codes(ConflictingKeys, TargetsFile, TargetNotRunnable), by_hand)]
    #[key(Text, "cli", codes(MissingKey, TargetNotRunnable), by_hand)]
    pub provider: Provider,
}

/// What a [`TargetEntry`] is.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
#[json(rename_all = "lowercase")]
pub enum Provider {
    /// Another entry. A name with `${{ NAME }}` is resolved when a run starts.
    Alias(String),
    /// A command.
    Cli(Box<CliTarget>),
    /// An agent that speaks the Agent Client Protocol.
    Acp(Box<AcpTarget>),
    /// A provider that needs a Rust agent.
    Other(String),
}

/// A command that is an agent or a judge.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "cli-target", what = "a target", common = TargetEntry::TABLE.keys)]
pub struct CliTarget {
    /// A command line for the shell, with placeholders such as `{PROMPT_FILE}` and `{OUTPUT_FILE}`.
    #[key(NotEmpty, "my-agent --prompt-file {PROMPT_FILE} --out {OUTPUT_FILE}", by_hand)]
    #[key(codes(MissingKey, InvalidCommand, UnknownPlaceholder))]
    pub command: String,
    /// Working directory of trials of cases without a workspace.
    ///
    /// One with `${{ NAME }}` is resolved when the command runs, relative to the directory of the targets file.
    #[key(Directory, "./agent", default = "an empty workspace", codes(ConflictingKeys), by_hand)]
    pub cwd: Option<PathRef>,
    /// Whether trials of cases without a workspace run in the suite's directory, in place of an empty workspace. A command
    /// that writes there changes the suite.
    #[key(Boolean, "true", default = "`false`", codes(ConflictingKeys))]
    #[json(default, skip_if = "std::ops::Not::not")]
    pub in_suite_directory: bool,
    /// Time limit of a call where the case sets none.
    #[key(Number(&POSITIVE), "120", default = "300", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
    /// How an input file is written for `{FILES}`, with `{path}` and `{basename}`.
    #[key(Text, "\"--file {path}\"", old("attachments_format"), default = "`{path}`", init = "{path}".to_owned())]
    pub files_format: String,
    /// Asked once per run, before the first trial.
    #[key(Object(HealthCheck::TABLE), "{url: http://localhost:8080/health}", by_hand)]
    pub healthcheck: Option<HealthCheck>,
    /// What the command may use.
    #[key(flatten)]
    #[json(default, skip_if = "is_default")]
    pub sealing: Sealing,
    /// MCP servers that the agent may use, with their calls recorded, replayed, or made to fail.
    #[key(Object(Mcp::TABLE), "{servers: {notes: {command: my-notes-server}}}", by_hand)]
    pub mcp: Option<Mcp>,
    /// Added to the environment of the command.
    #[key(Map(&AnyText), "{LOG: debug}", by_hand)]
    pub env: Vec<(String, String)>,
    /// What the output file of the command is: the answer itself (`text`), or a JSON object with the answer, tokens and cost (`json`).
    /// By default, a JSON object, or what is meant as one, has to be such a reply, and anything else is the answer.
    #[key(Choice(OutputForm::WORDS), "text", default = "as the file shows")]
    pub output: Option<OutputForm>,
    /// Whether prompt and output files are kept.
    #[key(Boolean, "true", old("keep_output_files"), default = "`false`")]
    pub keep_temp_files: bool,
    /// Whether the command line is written to the log of the trial.
    #[key(Boolean, "true", old("cli_verbose"), default = "`false`")]
    pub verbose: bool,
    /// Whether several cases go to one process. With `true` the target cannot run.
    #[key(Boolean, "false", default = "`false`", codes(NoEffect, TargetNotRunnable))]
    #[json(default, skip_if = "std::ops::Not::not")]
    pub provider_batching: bool,
}

/// What the output file of a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
#[json(rename_all = "lowercase")]
pub enum OutputForm {
    /// The answer itself, also if it is JSON.
    Text,
    /// A JSON object with the answer, and more.
    Json,
}

/// How the health of a target is checked: by a URL that answers with a status from 200 to 299, or by a command that exits with 0.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "healthcheck", by_hand)]
pub struct HealthCheck {
    /// The question.
    #[also(url: Text, "http://localhost:8080/health", "The URL.", codes(ConflictingKeys, TargetsFile), by_hand)]
    #[also(command: Text, "\"curl -f localhost:8080\"", "A command line for the shell.", codes(ConflictingKeys, TargetsFile), by_hand)]
    #[also(cwd: Directory, "./agent", "Working directory of the command.", default = "the directory of the eval file", by_hand)]
    pub probe: Probe,
    /// Time limit.
    #[key(Number(&POSITIVE), "5", default = "30", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
}

/// What a [`HealthCheck`] checks.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
#[json(rename_all = "lowercase")]
pub enum Probe {
    /// A URL that has to answer with success.
    Url(String),
    /// A command that has to exit with 0.
    Command {
        /// Shell command.
        command: String,
        /// Working directory, as that of the command.
        #[json(default, skip_if = "Option::is_none")]
        cwd: Option<PathRef>,
    },
}

crate::keys::made!((String, String));
