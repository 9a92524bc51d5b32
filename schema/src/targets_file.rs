//! The targets file: agents and judges that are commands, agents that speak the Agent Client Protocol, and the MCP servers of a target.

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::json::{FromJson, FromJsonOverDefault, ToJson};
use crate::{Location, Object, PathRef, Sealing};

/// `targets.yaml`, also below `.evalsuite/` or `.agentv/`: the nearest one from the suite's directory up to the package's.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
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
#[skip_empty(.., in_suite_directory, sealing, provider_batching)]
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
    /// Whether trials of cases without a workspace run in the suite's directory, in place of an empty workspace.
    #[key(Boolean, "true", default = "`false`", codes(ConflictingKeys))]
    pub in_suite_directory: bool,
    /// Time limit of a call, if the case sets none.
    #[key(Number(&POSITIVE), "120", default = "300", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
    /// How an input file is written for `{FILES}`, with `{path}` and `{basename}`.
    #[key(Text, "\"--file {path}\"", old("attachments_format"), default = "`{path}`", init = "{path}".to_owned())]
    pub files_format: String,
    /// Checked once per run, before the first trial.
    #[key(Object(HealthCheck::TABLE), "{url: http://localhost:8080/health}", by_hand)]
    pub healthcheck: Option<HealthCheck>,
    /// What the command may use.
    #[key(flatten)]
    pub sealing: Sealing,
    /// MCP servers that the agent may use, with their calls recorded, replayed, or made to fail.
    #[key(Object(Mcp::TABLE), "{servers: {notes: {command: my-notes-server}}}", by_hand)]
    pub mcp: Option<Mcp>,
    /// Added to the environment of the command.
    #[key(Map(&AnyText), "{LOG: debug}", by_hand)]
    pub env: Vec<(String, String)>,
    /// What the output file of the command is: the answer itself (`text`), or a JSON object with the answer, tokens and cost (`json`). By
    /// default, what looks like a JSON object has to be such a reply, and anything else is the answer.
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
    pub provider_batching: bool,
}

/// What the output file of a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
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
    pub probe: HealthProbe,
    /// Time limit.
    #[key(Number(&POSITIVE), "5", default = "30", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
}

/// What a [`HealthCheck`] checks.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub enum HealthProbe {
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

/// An agent that speaks the Agent Client Protocol over its standard input and output.
#[skip_empty(.., permissions, sealing)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "acp-target", what = "a target", common = TargetEntry::TABLE.keys)]
pub struct AcpTarget {
    /// A command line for the shell that starts the agent. The agent gets the prompt in a message, so there are no placeholders.
    #[key(NotEmpty, "my-agent --acp", codes(MissingKey, InvalidCommand, UnknownPlaceholder), by_hand)]
    pub command: String,
    /// Working directory of the agent and of its session in trials of cases without a workspace.
    ///
    /// One with `${{ NAME }}` is resolved when the agent starts, relative to the directory of the targets file.
    #[key(Directory, "./agent", default = "an empty workspace", by_hand)]
    pub cwd: Option<PathRef>,
    /// Time limit of a turn, if the case sets none.
    #[key(Number(&POSITIVE), "120", default = "300", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
    /// The id of the authentication method that the agent is asked to use before the session starts.
    ///
    /// Without it, the session starts without authentication; if the agent refuses that, the error names its methods.
    #[key(Text, "api-key")]
    pub authenticate: Option<String>,
    /// What the agent may do when it asks for permission: everything (`allow`), nothing (`deny`), or what the first matching rule says.
    /// A request that no rule matches is denied.
    #[key(OneOf(&[Choice(PermissionDecision::WORDS), Some(&Object(PermissionRule::TABLE))]), "[{kind: execute, decision: deny}, {decision: allow}]")]
    #[key(default = "`allow`", init = Permissions::Allow, by_hand)]
    pub permissions: Permissions,
    /// Whether the agent may read and write files of its session through the client. With `false`, it only has its own tools for files.
    #[key(Boolean, "false", default = "`true`", init = true)]
    pub client_files: bool,
    /// Whether the agent reports the tokens of the `turn`, or those of the `session` so far, as the schema of the protocol says.
    ///
    /// Without it, the tokens of a conversation are known only if a number is smaller than in the turn before.
    #[key(Choice(ReportedTokens::WORDS), "turn")]
    pub tokens: Option<ReportedTokens>,
    /// Checked once per run, before the first trial.
    #[key(Object(HealthCheck::TABLE), "{url: http://localhost:8080/health}", by_hand)]
    pub healthcheck: Option<HealthCheck>,
    /// What the agent may use.
    #[key(flatten)]
    pub sealing: Sealing,
    /// MCP servers of the session, with their calls recorded, replayed, or made to fail.
    #[key(Object(Mcp::TABLE), "{servers: {notes: {command: my-notes-server}}}", by_hand)]
    pub mcp: Option<Mcp>,
    /// Added to the environment of the agent.
    #[key(Map(&AnyText), "{LOG: debug}", by_hand)]
    pub env: Vec<(String, String)>,
}

impl AcpTarget {
    /// How the agent starts, as a command.
    pub fn as_command(&self) -> CliTarget {
        CliTarget {
            command: self.command.clone(),
            cwd: self.cwd.clone(),
            in_suite_directory: false,
            timeout_seconds: self.timeout_seconds,
            files_format: "{path}".to_owned(),
            healthcheck: self.healthcheck.clone(),
            sealing: self.sealing.clone(),
            mcp: self.mcp.clone(),
            env: self.env.clone(),
            output: None,
            keep_temp_files: false,
            verbose: false,
            provider_batching: false,
        }
    }
}

/// What an agent may do when it asks for permission.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJson)]
pub enum Permissions {
    /// Everything.
    #[default]
    Allow,
    /// Nothing.
    Deny,
    /// What the first matching rule says; nothing if none matches.
    Rules(Vec<PermissionRule>),
}

/// A rule about requests for permission. Without `kind` and `title` it matches every request.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
#[keys(id = "permission-rule", what = "a rule of `permissions`")]
pub struct PermissionRule {
    /// The kind of tool that the agent wants to use.
    #[key(Choice(ToolKind::WORDS), "execute", default = "every kind")]
    pub kind: Option<ToolKind>,
    /// The whole title of the tool call, in which `*` matches any text.
    #[key(Text, "\"git push*\"", default = "every title")]
    pub title: Option<String>,
    /// The answer.
    #[key(Choice(PermissionDecision::WORDS), "deny", required)]
    pub decision: PermissionDecision,
}

/// The answer to a request for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum PermissionDecision {
    /// The agent may.
    Allow,
    /// The agent may not.
    Deny,
}

/// The tokens that an agent reports at the end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum ReportedTokens {
    /// Those of the turn.
    Turn,
    /// Those of the session so far.
    Session,
}

/// The kinds of tools that the protocol knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum ToolKind {
    /// Reads files or data.
    Read,
    /// Changes files.
    Edit,
    /// Deletes files.
    Delete,
    /// Moves or renames files.
    Move,
    /// Searches.
    Search,
    /// Runs commands.
    Execute,
    /// Thinks or plans.
    Think,
    /// Gets data from elsewhere.
    Fetch,
    /// Switches the mode of the session.
    SwitchMode,
    /// Anything else.
    Other,
}

impl ToolKind {
    /// The kind that a message of the protocol names. An unknown one is another kind of tool.
    pub fn named(word: Option<&str>) -> Self {
        word.and_then(Self::of_word).unwrap_or(Self::Other)
    }

    /// Its name in messages of the protocol.
    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

crate::keys::made!(Permissions);

/// The MCP servers that an agent may use, and the proxy between the agent and them.
#[skip_empty(.., replay, only_tools)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
#[keys(id = "mcp", what = "`mcp`", by_hand)]
pub struct Mcp {
    /// The servers, by name.
    #[key(Map(&Object(McpServer::TABLE)), "{notes: {command: my-notes-server, args: [.]}}", required, codes(TargetsFile), by_hand)]
    pub servers: Vec<McpServer>,
    /// Whether a proxy between the agent and its servers records the calls of tools, for graders. With `false` the agent gets the servers
    /// themselves.
    #[key(Boolean, "false", default = "`true`", init = true)]
    pub record: bool,
    /// Whether the servers are not started: the recorded answers of each trial take their place. `EVALSUITE_MCP` takes precedence.
    #[key(Boolean, "true", default = "`false`", codes(ConflictingKeys))]
    pub replay: bool,
    /// Target whose recordings are replayed, for targets that differ only in their model.
    #[key(Text, "default", default = "the target itself")]
    pub recorded_by: Option<String>,
    /// Whether the agent has no other tools than those of its servers. A call that no server got was then not made.
    #[key(Boolean, "true", default = "`false`")]
    pub only_tools: bool,
    /// Calls that fail or are late, to test what the agent does then. Of several entries for a call, the first one applies.
    #[key(List(&Object(McpFault::TABLE)), "[{tool: search, fault: error, calls: [1]}]", codes(ConflictingKeys, TargetsFile))]
    pub faults: Vec<McpFault>,
}

/// A program that speaks the Model Context Protocol on its standard input and output.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
#[keys(id = "mcp-server", what = "an MCP server")]
#[also(type: Any, "stdio", "The transport. Only `stdio` is supported, which need not be written.", by_hand, codes(UnsupportedKey))]
#[also(url: Any, "https://mcp.example.com", "Servers with HTTP are not supported.",
    refused(UnsupportedKey, "MCP servers with a `url` are not supported: the proxy speaks stdio",
        "name a command that connects to it, or record it with `record` of the macro: docs/recording.md"))]
pub struct McpServer {
    /// Its name.
    #[json(default)]
    pub name: String,
    /// The program. No shell is involved.
    #[key(Text, "npx", required)]
    pub command: String,
    /// Its arguments.
    #[key(List(&AnyText), "[-y, \"@modelcontextprotocol/server-filesystem\", .]")]
    pub args: Vec<String>,
    /// Variables that the agent adds to the environment of the server.
    #[key(Map(&AnyText), "{API_KEY: \"${{ SEARCH_KEY }}\"}", by_hand)]
    pub env: Vec<(String, String)>,
    /// Further keys of the server in the file that the agent reads, such as `trust` or `timeout`.
    #[key(Data, "{trust: true}")]
    pub config: Object,
}

/// What happens to calls of a tool.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "mcp-fault", what = "a fault")]
pub struct McpFault {
    /// Name of the tool whose calls fail, or a pattern with `*` and `?`.
    #[key(Text, "search", required)]
    pub tool: String,
    /// Name of the server.
    #[key(Text, "notes", default = "every server", codes(TargetsFile))]
    pub server: Option<String>,
    /// `timeout`: the call is not made, and never answered. `error`: the call is not made, and answered with an error of the tool.
    /// `garbled`: the call is made, and the texts in its answer are cut off and damaged. `slow`: the answer is late.
    #[key(Choice(McpFaultKind::WORDS), "error", required)]
    pub fault: McpFaultKind,
    /// Which of these calls of the trial, counted from 1.
    #[key(List(&Integer(1, 1_000_000)), "[1, 2]", default = "all")]
    pub calls: Vec<u64>,
    /// Delay of the answer.
    #[key(Number(&NOT_NEGATIVE), "2500", default = "5000 for `slow`, else 0", unit = "milliseconds")]
    pub after_ms: Option<f64>,
    /// The text of the error.
    #[key(Text, "quota exceeded", default = "`the tool failed`")]
    pub message: Option<String>,
}

/// What a [`McpFault`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum McpFaultKind {
    /// The call is not answered.
    Timeout,
    /// The call is answered with an error of the tool.
    Error,
    /// The texts of the answer are damaged.
    Garbled,
    /// The answer is late.
    Slow,
}
