//! Evaluation suites for AI agents, compiled into the agent's own Rust crate.
//!
#![doc = include_str!("crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

// The layers, lowest first: a module imports only from modules above its own in this list. `tests/tests/layers.rs` checks it.
/// Processes and their groups, locks, clock, environment variables, digests, safe text, calls on threads of their own.
mod platform;

/// The types that users program with: the static suite, trials, evidence, outcomes, scores, agents, graders and judges.
mod model;

/// The directory an agent works in: templates, repositories, copies, resets, snapshots and their differences.
mod workspace;

/// The records of a run.
pub mod record;

/// Calls of agents, and transcripts from their spans.
mod agents;

/// Selection and calls of judges.
mod judge;

/// The built-in graders, and scoring of their results.
mod grade;

/// A run: settings, selection, hooks, budgets, and a trial as phases.
mod run;

/// Entry points of generated tests, programs and the command line.
mod entry;

pub use evalsuite_records::record::{Assertion, Status, Verdict};
pub use evalsuite_schema::{
    Calibration, Case, Content, GraderKind, Location, Message, Object, Part, PathRef, Role, Suite, ToolCall, Usage,
    Value, chat,
};

/// The data of suites and cases, as [`EvalSuite::decode`] and [`EvalCase::decode`] return it, to be read: files get new keys, so any
/// release may add fields and variants. Write `..` in patterns of these types and `_` in matches.
pub mod schema {
    pub use evalsuite_schema::{
        Aggregation, Argument, Bar, Calibration, Case, Checkout, Command, Conversation, Grader, GraderConfig, Hook,
        Hooks, Input, Isolation, Layout, Location, OnDependencyFailure, OnTurnFailure, ReferenceSolution,
        ReferenceSource, Repo, RepoSource, Requires, Reset, Resolve, Sample, SimulatedUser, Strategy, Suite, SuiteKind,
        Target, Trials, Turn, Workspace, grader,
    };
}

pub use crate::entry::evals_run::{Report, RunOptions};
pub use crate::entry::run_error::{RunError, RunErrorKind};
pub use crate::model::agent::{Agent, AgentResult, BoundAgent, IntoAgent};
pub use crate::model::cassette::{Cassette, CassetteError};
pub use crate::model::command::TrialCommand;
pub use crate::model::evals::Evals;
pub use crate::model::evidence::{Dependency, Evidence, WorkspaceChanges};
pub use crate::model::grader::{BoundGrader, Grader, IntoGrader, asks_judge};
pub use crate::model::judge::{
    BoundJudge, IntoJudge, Judge, JudgeError, JudgeImage, JudgeReply, JudgeRequest, JudgeResult, SuiteJudge,
};
pub use crate::model::outcome::{AgentError, BoxError, Outcome};
pub use crate::model::progress::{ProgressEvent, ProgressStep};
pub use crate::model::recorder::{RecordedCall, Recorder};
pub use crate::model::score::Score;
pub use crate::model::suite::{EvalCase, EvalSuite};
pub use crate::model::trial::Trial;
pub use crate::record::trajectory::TrajectoryError;
pub use crate::run::case_report::CaseReport;

#[cfg(feature = "acp")]
pub use crate::agents::acp::AcpAgents;
#[cfg(feature = "cli-agents")]
pub use crate::agents::command::CliAgents;
#[cfg(feature = "capture")]
pub use crate::agents::spans::{CaptureLayer, capture_layer};
#[cfg(feature = "grader-tests")]
pub use crate::entry::grader_tests::GradedOutcome;
#[cfg(feature = "users")]
pub use crate::model::user::{BoundUser, IntoUser, UserReply, UserRequest, UserResult};
#[cfg(feature = "calibration")]
pub use crate::run::calibration::CalibrationReport;

#[cfg(feature = "macros")]
#[doc = include_str!("include_eval_suite.md")]
pub use evalsuite_macros::include_eval_suite;

/// For `cargo evalsuite`. Not part of the API: any release may change it.
#[doc(hidden)]
pub mod tooling {
    #[cfg(feature = "probe")]
    pub use crate::entry::probe::{PROBE_PROGRESS, PROBE_REQUEST, ProbeReply, ProbeRequest};
    pub use crate::entry::suite_description::{DESCRIBE_VARIABLE, NEW_CASES, SuiteDescription, TestDescription};
    pub use crate::entry::test_entry::LongCases;
    #[cfg(feature = "tooling")]
    pub use crate::entry::tooling::*;
    pub use crate::platform::environment::{
        names as variable_names, names_of_keys, remove_git_variables, var as variable,
    };
    #[cfg(feature = "mcp")]
    pub use crate::record::mcp::*;
    pub use crate::record::model_calls::{
        BeginTrial, BegunTrial, EndTrial, EndedCalls, MODEL_CALLS, MODEL_CALLS_FILE, ModelCallServer,
    };
    pub use crate::record::run_directory::run_id_or_new;
    pub use crate::workspace::value_placeholders::Placeholders;
}

/// What generated code, benchmarks and property tests call. Not part of the API.
#[doc(hidden)]
pub mod __private {
    pub use crate::entry::calibration::judge_calibration;
    pub use crate::entry::grader_tests::grader_examples;
    pub use crate::entry::test_entry::{case as run_case, check as suite_check};
    pub use crate::grade::standalone::{
        AgentWork, EndedTrial, GradableEvidence, end_case, end_conversation, end_trial,
    };
    pub use crate::model::outcome::with_duration_ms;
    pub use crate::model::suite::{CompiledJson, Origin, SuiteTexts};
}
