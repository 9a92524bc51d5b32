//! Evaluation suites for AI agents, embedded in the agent's own crate.

mod agent;
mod cancel;
mod command;
mod evidence;
mod isolate;
mod messages;
mod outcome;
mod process;
mod recording;
mod score;
mod suite;
mod trial;
mod user_grader;

pub use agent::{Agent, AgentResult, BoundAgent, IntoAgent};
pub use command::Command;
pub use evalsuite_schema::{
    Content, Message, Object, Part, Role, ToolCall,
    record::{Assertion, CaseOutcome, GraderKind, Usage, Verdict},
};
pub use evidence::{Evidence, WorkspaceChanges};
pub use outcome::{AgentError, BoxError, Outcome};
pub use score::Score;
pub use suite::{EvalCase, EvalSuite};
pub use trial::Trial;
pub use user_grader::{BoundGrader, Grader, IntoGrader};
