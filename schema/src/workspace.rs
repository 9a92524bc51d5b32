//! Workspaces, repositories, hooks and commands.

use serde::{Deserialize, Serialize};

use crate::{PathRef, is_default};

/// The directory an agent works in, and the hooks around its use.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Workspace {
    /// Directory copied for every trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<PathRef>,
    /// Tasks layout: directory copied before the template, which is laid over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_fixture: Option<PathRef>,
    /// Whether trials share one copy.
    #[serde(default, skip_serializing_if = "is_default")]
    pub isolation: Isolation,
    /// Git repositories cloned into the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repos: Vec<Repo>,
    /// Commands run around trials.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hooks: Hooks,
    /// The suite asks for a docker workspace, which is not supported: its cases are skipped.
    #[serde(default, skip_serializing_if = "is_default")]
    pub docker: bool,
}

/// Whether trials share one workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Every trial has its own copy.
    #[default]
    PerTest,
    /// One copy per run, used by one trial after another.
    Shared,
}

/// A git repository cloned into the workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repo {
    /// Path inside the workspace, relative.
    pub path: String,
    /// What is cloned.
    pub source: RepoSource,
    /// Which commit is checked out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub checkout: Checkout,
    /// Number of commits of a shallow clone. `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Filter of a partial clone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Directories of a cone sparse checkout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sparse: Vec<String>,
}

/// Where a [`Repo`] comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RepoSource {
    /// A URL git understands.
    Git(String),
    /// A directory on this machine. A path with an interpolation is resolved when the trial starts.
    Local(PathRef),
}

/// Which commit of a [`Repo`] is checked out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkout {
    /// Commit, tag or branch. `None`: `HEAD`.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Where the reference is resolved.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resolve: Resolve,
    /// Number of first parents to walk from there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ancestor: u32,
}

/// Where a reference is resolved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resolve {
    /// The remote repository.
    #[default]
    Remote,
    /// The clone.
    Local,
}

/// Commands run around trials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hooks {
    /// Once, before the first trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_all: Option<Hook>,
    /// Before every trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_each: Option<Hook>,
    /// After every trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_each: Option<Hook>,
    /// Once, after the last trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_all: Option<Hook>,
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hook {
    /// What runs. `None` for a hook that only resets the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// Time limit in milliseconds.
    pub timeout_ms: u64,
    /// Working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathRef>,
    /// How the workspace is returned to its base before the command.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reset: Reset,
}

/// How a workspace is returned to its base.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reset {
    /// Not at all.
    #[default]
    None,
    /// Tracked files, and untracked ones that git does not ignore.
    Fast,
    /// Ignored files too.
    Strict,
}

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// A line for `sh -c` (on Windows `cmd /C`).
    Shell(String),
    /// Program and arguments, without a shell. Elements that name files of the suite are [`Argument::Path`].
    Argv(Vec<Argument>),
}

/// An element of [`Command::Argv`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Argument {
    /// Passed as written.
    Text(String),
    /// A file of the suite, passed as absolute path.
    Path(PathRef),
}
