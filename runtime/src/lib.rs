//! Evaluation suites for AI agents, embedded in the agent's own crate.

mod agent;
mod cancel;
mod clock;
mod command;
mod digest;
mod engine;
mod evals;
mod evidence;
mod excerpt;
mod failure;
mod grader;
mod isolate;
mod messages;
mod outcome;
mod place;
mod process;
mod recording;
mod redaction;
mod report;
mod run_directory;
mod run_options;
mod score;
mod scoring;
mod settings;
mod suite;
mod suite_check;
mod test_entry;
mod trial;
mod user_grader;

pub use agent::{Agent, AgentResult, BoundAgent, IntoAgent};
pub use command::Command;
pub use evals::Evals;
#[cfg(feature = "macros")]
pub use evalsuite_macros::include_eval_suite;
/// The records a run writes.
pub use evalsuite_schema::record;
pub use evalsuite_schema::{
    Content, Message, Object, Part, Role, ToolCall,
    record::{Assertion, CaseOutcome, GraderKind, Usage, Verdict},
};
pub use evidence::{Evidence, WorkspaceChanges};
pub use outcome::{AgentError, BoxError, Outcome};
pub use report::{CaseReport, Report};
pub use run_options::{RunError, RunOptions};
pub use score::Score;
pub use suite::{EvalCase, EvalSuite};
pub use trial::Trial;
pub use user_grader::{BoundGrader, Grader, IntoGrader};

/// What generated code calls. Not part of the API.
#[doc(hidden)]
pub mod __private {
    use crate::Evals;

    /// Runs the case at an index of the suite as a test.
    pub fn run_case(evals: fn() -> Evals, index: usize) {
        crate::test_entry::case(evals, index);
    }

    /// Checks the suite itself as a test.
    pub fn suite_check(evals: fn() -> Evals) {
        crate::test_entry::check(evals);
    }
}
