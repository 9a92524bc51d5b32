#![doc = include_str!("crate.md")]

// The layers, lowest first: a module imports only from modules above its own in this list. `tests/tests/layers.rs` checks it.

/// Processes and their groups, locks, clock, environment variables, digests, safe text, calls on threads of their own.
mod platform;

/// What users write against: the static suite, trials, evidence, outcomes, scores, agents, graders and judges.
mod model;

/// The directory an agent works in: templates, repositories, copies, resets, snapshots and their differences.
mod workspace;

/// The records of a run.
pub mod record;

/// How an agent is called, and what its spans report.
mod agents;

/// How a judge is chosen and called.
mod judge;

/// The built-in graders, and how their results become scores.
mod grade;

/// A run: settings, selection, hooks, budgets, and a trial as phases.
mod run;

/// What generated tests, programs and the command line call.
mod entry;

pub use evalsuite_schema::{
    Content, Message, Object, Part, PathRef, Role, ToolCall,
    record::{Assertion, CaseOutcome, GraderKind, Usage, Verdict},
};

pub use crate::{
    entry::{evals_run::RunError, report::Report, run_options::RunOptions},
    judge::calibration::CalibrationReport,
    model::{
        agent::{Agent, AgentResult, BoundAgent, IntoAgent},
        cassette::{Cassette, CassetteError},
        command::Command,
        dependency::Dependency,
        evals::Evals,
        evidence::{Evidence, WorkspaceChanges},
        grader::{BoundGrader, Grader, IntoGrader, asks_judge},
        judge::{
            BoundJudge, IntoJudge, Judge, JudgeError, JudgeImage, JudgeReply, JudgeRequest, JudgeResult, SuiteJudge,
        },
        outcome::{AgentError, BoxError, Outcome},
        score::Score,
        suite::{EvalCase, EvalSuite},
        trial::Trial,
    },
    record::trajectory::TrajectoryError,
    run::case_report::CaseReport,
};

#[cfg(feature = "cli-agents")]
pub use crate::agents::command::CliAgents;

#[cfg(feature = "capture")]
pub use crate::agents::spans::{CaptureLayer, capture_layer};

#[cfg(feature = "macros")]
pub use evalsuite_macros::include_eval_suite;

/// What generated code, benchmarks and property tests call. Not part of the API.
#[doc(hidden)]
pub mod __private {
    use crate::model::evals::Evals;

    pub use crate::{
        entry::{
            description::{Described, Description, VARIABLE as DESCRIBE},
            finish::{Finished, finish},
            samples::Samples,
        },
        grade::standalone::{AgentWork, GradableEvidence},
    };

    /// The id of a run as the name of its directory; where none is given, a new one.
    pub fn run_id(given: Option<&str>) -> String {
        given.map_or_else(crate::record::run_directory::new_run_id, crate::record::run_directory::as_name)
    }

    /// Runs the case at an index of the suite as a test.
    pub fn run_case(evals: fn() -> Evals, index: usize) {
        crate::entry::test_entry::case(evals, index);
    }

    /// Measures the suite's judges as a test.
    pub fn judge_calibration(evals: fn() -> Evals) {
        crate::entry::test_entry::calibration(evals);
    }

    /// Checks the suite itself as a test.
    pub fn suite_check(evals: fn() -> Evals) {
        crate::entry::test_entry::check(evals);
    }
}
