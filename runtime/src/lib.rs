//! Evaluation suites for AI agents, embedded in the agent's own crate.
//!
//! A directory of cases
//!
//! ```text
//! suites/card_agent/
//!   suite.json                         name, agent, how trials decide a case
//!   tasks/
//!     positive/meeting.json            input, graders
//!     positive/meeting/workspace/      files the agent starts with
//!     negative/empty_note.json
//! ```
//!
//! and one line in `tests/evals.rs`
//!
//! ```ignore
//! evalsuite::include_eval_suite!("suites/card_agent", agent = card_agent, graders = [card_completion]);
//!
//! async fn card_agent(trial: &mut evalsuite::Trial<'_>) -> anyhow::Result<String> {
//!     my_crate::CardAgent::new().answer(trial.prompt(), trial.workspace()).await
//! }
//!
//! fn card_completion(evidence: &evalsuite::Evidence<'_>) -> bool {
//!     evidence.answer().starts_with("Saved")
//! }
//! ```
//!
//! are one test per case. A mistake in a file does not wait for a run:
//!
//! ```text
//! error[E019 unknown-key]: unknown key `tiemout_seconds` in a task
//!  --> suites/card_agent/tasks/positive/meeting.json:4:3
//!   |
//! 4 |   "tiemout_seconds": 20,
//!   |   ^^^^^^^^^^^^^^^^^
//!   = help: did you mean `timeout_seconds`?
//! ```
//!
//! and a good suite runs as all tests do, case by case, under `cargo test` and `cargo nextest run`:
//!
//! ```text
//! test card_agent::negative::empty_note ... ok
//! test card_agent::positive::meeting ... FAILED
//!
//! evaluation failed: meeting (card_agent)  score 0.50 < 1.00
//!   suites/card_agent/tasks/positive/meeting.json:1:1
//!   trial 1 of 1  failed  0.50
//!     pass  contains-14:30   1.00  weight 1  suites/card_agent/tasks/positive/meeting.json:9:5
//!     FAIL  card_completion  0.00  weight 1  suites/card_agent/tasks/positive/meeting.json:10:5
//!     answer: I could not find a date.
//! ```
//!
//! # Agents, graders, records
//!
//! * An agent is any `async fn(&mut Trial<'_>) -> Result<String, E>`, see [`IntoAgent`]; [`Trial`] gives it the case and
//!   a fresh workspace, and takes notes of what it does.
//! * A grader is built in, or a function of the [`Evidence`], see [`IntoGrader`]; it returns whatever becomes a
//!   [`Score`].
//! * What happens is written below `target/evalsuite`, as [records](record).
//! * Outside of tests, the generated `evals()` runs the suite: [`Evals::run`] gives a [`Report`].
//!
//! Each call of an agent or grader runs on a thread of its own. So a panic, a call that blocks and a call that never
//! returns are errors of one case, and of no other.
//!
//! # Features
//!
//! * `macros` (default): `include_eval_suite!`. Without it, `evalsuite_build::generate` writes the same code from a build
//!   script.
//! * `capture` (default): the transcript of an agent that reports none is made of its `tracing` spans, if it or its libraries
//!   follow OpenTelemetry's conventions for generative AI, see [`capture_layer`].
//! * `judge`: judges behind an OpenAI-compatible endpoint, named by `EVALSUITE_JUDGE_URL` and `EVALSUITE_JUDGE_MODEL`.
//! * `json-schema`: the grader of this name, whose validator is a third of what this crate compiles with.

mod agent;
mod calibration;
mod cancel;
mod cassette;
mod classification;
mod cli_agent;
mod clock;
mod command;
mod coordination;
mod dependency;
mod description;
mod digest;
mod embedded;
mod engine;
mod environment;
mod evals;
mod evidence;
mod excerpt;
mod failure;
mod finish;
mod grader;
mod isolate;
mod json;
mod judge;
mod messages;
mod notice;
mod outcome;
mod place;
mod process;
mod recording;
mod redaction;
mod report;
mod run;
mod run_directory;
mod run_options;
mod run_record;
mod score;
mod scoring;
mod settings;
mod spans;
mod suite;
mod suite_check;
mod summary;
mod test_entry;
mod trajectory;
mod trial;
mod user_grader;
mod verbose;

pub use agent::{Agent, AgentResult, BoundAgent, IntoAgent};
pub use calibration::CalibrationReport;
pub use cassette::{Cassette, CassetteError};
pub use classification::ClassificationMetrics;
#[cfg(feature = "cli-agents")]
pub use cli_agent::CliAgents;
pub use command::Command;
pub use dependency::Dependency;
pub use evals::Evals;
#[cfg(feature = "macros")]
pub use evalsuite_macros::include_eval_suite;
/// The records a run writes.
pub use evalsuite_schema::record;
pub use evalsuite_schema::{
    Content, Message, Object, Part, PathRef, Role, ToolCall,
    record::{Assertion, CaseOutcome, GraderKind, Usage, Verdict},
};
pub use evidence::{Evidence, WorkspaceChanges};
pub use judge::{
    BoundJudge, IntoJudge, Judge, JudgeError, JudgeImage, JudgeReply, JudgeRequest, JudgeResult, SuiteJudge,
};
pub use outcome::{AgentError, BoxError, Outcome};
pub use report::{CaseReport, Report};
pub use run::RunError;
pub use run_options::RunOptions;
pub use score::Score;
#[cfg(feature = "capture")]
pub use spans::{CaptureLayer, capture_layer};
pub use suite::{EvalCase, EvalSuite};
pub use trajectory::TrajectoryError;
pub use trial::Trial;
pub use user_grader::{BoundGrader, Grader, IntoGrader, asks_judge};

/// What generated code, benchmarks and property tests call. Not part of the API.
#[doc(hidden)]
pub mod __private {
    use crate::Evals;
    pub use crate::calibration::Samples;
    pub use crate::description::{Described, Description, VARIABLE as DESCRIBE};
    pub use crate::finish::{Finished, finish};
    pub use crate::grader::direct::{Direct, Given};

    /// The id of a run as the name of its directory; where none is given, a new one.
    pub fn run_id(given: Option<&str>) -> String {
        given.map_or_else(crate::run_directory::new_run_id, crate::run_directory::as_name)
    }

    /// Runs the case at an index of the suite as a test.
    pub fn run_case(evals: fn() -> Evals, index: usize) {
        crate::test_entry::case(evals, index);
    }

    /// Measures the suite's judges as a test.
    pub fn judge_calibration(evals: fn() -> Evals) {
        crate::test_entry::calibration(evals);
    }

    /// Checks the suite itself as a test.
    pub fn suite_check(evals: fn() -> Evals) {
        crate::test_entry::check(evals);
    }
}
