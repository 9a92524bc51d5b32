//! The data model of [evalsuite](https://docs.rs/evalsuite): what a checked suite contains.
//!
//! These types are the *resolved* form: defaults filled in, suite settings merged into cases, paths found, names made
//! unique. The loader produces them from files while a crate compiles; each case is compiled into the binary as a JSON
//! string, which the same types decode when it runs. They do not depend on the file system or YAML. Only `discovery`, which finds the files
//! of a suite, asks the file system; it does not know the contents of files.
//!
//! This crate is a part of evalsuite, whose crates require each other at exactly one version. Only what `evalsuite` exports by name is a
//! stable API.
//!
//! ```
//! use evalsuite_schema::{Case, Location};
//!
//! let case = Case::new("refund-small", Location::new("suites/shop/cases/refund-small/case.yaml", 1, 1));
//! let json = serde_json::to_string(&case)?;
//! assert_eq!(serde_json::from_str::<Case>(&json)?, case);
//! # Ok::<(), serde_json::Error>(())
//! ```

// Derives refer to this crate by its name.
extern crate self as evalsuite_schema;

#[doc(hidden)]
pub mod calendar_date;
mod calibration;
mod case;
pub mod chat;
mod command;
#[doc(hidden)]
pub mod decimal;
pub mod diagnostics;
#[doc(hidden)]
pub mod digest;
pub mod discovery;
#[doc(hidden)]
pub mod embedded;
mod examples;
mod execution;
pub mod gate;
pub mod grader;
mod hooks;
pub mod json;
#[doc(hidden)]
pub mod keys;
mod layout;
#[doc(hidden)]
pub mod line_breaks;
pub mod media_type;
mod message;
pub mod placeholder;
#[doc(hidden)]
pub mod rfc3339;
mod skill;
#[doc(hidden)]
pub mod sorting;
mod suite;
mod targets_file;
mod user;
pub mod variable;
mod wildcard;
mod workspace;

pub use calibration::{Bar, Calibration, Sample};
pub use case::{
    Aggregation, Case, Conversation, EmptyProbe, Input, OnDependencyFailure, OnTurnFailure, ProbeSettings,
    ReferenceSolution, ReferenceSource, Task, Turn,
};
#[doc(hidden)]
pub use command::NetworkPorts;
pub use command::{Argument, Command, Network, PathRef, SealMode, Sealing};
pub use diagnostics::Location;
pub use examples::{Example, Examples};
pub use execution::{
    CaseExecution, CommonExecution, OLD_SKILL, OldSkill, REFERENCE_ARMS, Requires, SKILL_DIRECTORIES, Strategy,
    SuiteExecution, SuiteRequires, Target, TargetSkill, Trials, WITH_SKILL, WITHOUT_SKILL,
};
pub use grader::{Grader, GraderConfig, GraderKind};
pub use hooks::{Hook, Hooks, Reset};
#[doc(hidden)]
pub use hooks::{WrittenHook, WrittenHooks};
#[doc(hidden)]
pub use json::is_default;
pub use json::{Object, Value};
pub use layout::{Layout, LayoutRules, Scoring};
pub use message::{Content, ContentPart, Message, Part, Role, ToolCall, Usage};
#[doc(hidden)]
pub use rfc3339::duration;
pub use rfc3339::milliseconds;
pub use skill::{Skill, SkillEval, SkillEvals, SkillExpectation};
pub use suite::{Suite, SuiteJson, SuiteKind};
pub use targets_file::{
    AcpTarget, CliTarget, HealthCheck, HealthProbe, Mcp, McpFault, McpFaultKind, McpServer, OutputForm,
    PermissionDecision, PermissionRule, Permissions, Provider, ReportedTokens, TargetEntry, TargetsFile, ToolKind,
};
#[doc(hidden)]
pub use user::ConversationKeys;
pub use user::SimulatedUser;
#[doc(hidden)]
pub use wildcard::{is_tool_named, matches_stars};
pub use workspace::{Checkout, Isolation, Repo, RepoSource, Resolve, Workspace, WorkspaceCopy};
#[doc(hidden)]
pub use workspace::{RepoSourceKeys, ShortRepo, WrittenClone};
