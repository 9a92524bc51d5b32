//! Agents of a targets file that speak the Agent Client Protocol.

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::json::{FromJson, ToJson};
use crate::targets_file::{CliTarget, HealthCheck, TargetEntry};
use crate::{Mcp, PathRef, Sealing, is_default};

/// An agent that speaks the Agent Client Protocol over its standard input and output.
#[skip_empty]
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
    /// Time limit of a turn where the case sets none.
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
    #[json(default, skip_if = "is_default")]
    pub permissions: Permissions,
    /// Whether the agent may read and write files of its session through the client. With `false`, it only has its own tools for files.
    #[key(Boolean, "false", default = "`true`", init = true)]
    pub client_files: bool,
    /// Asked once per run, before the first trial.
    #[key(Object(HealthCheck::TABLE), "{url: http://localhost:8080/health}", by_hand)]
    pub healthcheck: Option<HealthCheck>,
    /// What the agent may use.
    #[key(flatten)]
    #[json(default, skip_if = "is_default")]
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
#[json(rename_all = "lowercase")]
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
#[json(rename_all = "lowercase")]
pub enum PermissionDecision {
    /// The agent may.
    Allow,
    /// The agent may not.
    Deny,
}

/// The kinds of tools that the protocol knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
#[json(rename_all = "snake_case")]
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
