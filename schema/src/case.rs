//! Cases, their input and conversations.

use serde::{Deserialize, Serialize};

use crate::{Grader, Location, Message, Object, Requires, Trials, Workspace, is_default};

/// One evaluation case, with everything its suite adds to it.
///
/// ```
/// use evalsuite_schema::{Case, Location};
///
/// let case = Case::new("refund-small", Location::new("suites/shop/cases/refund-small/case.yaml", 1, 1));
/// assert!(case.graders.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Case {
    /// Id, unique in the suite.
    pub id: String,
    /// Where the case is defined.
    pub location: Location,
    /// Directory of the file that defines the case, in the form of [`PathRef::path`](crate::PathRef::path).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dir: String,
    /// What the case is about (tasks layout).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Criteria of a good answer; used by judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<String>,
    /// What the agent gets.
    pub input: Input,
    /// Reference answer (cases layout); empty when there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected_output: Vec<Message>,
    /// Reference solution (tasks layout).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_solution: Option<ReferenceSolution>,
    /// Graders of the case, then of the suite. Empty only for an implicit judge grader or a conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub graders: Vec<Grader>,
    /// Repetition.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trials: Trials,
    /// Threshold written in the case or the suite; `None`: the layout's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Limit of one agent call in seconds; `None`: 300 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<f64>,
    /// Target written in the case or the suite; `None`: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Names of the matrix entries this case runs in; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// Free-form data; reaches graders, hooks and results.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub metadata: Object,
    /// Requirements of the case and of its suite.
    #[serde(default, skip_serializing_if = "is_default")]
    pub requires: Requires,
    /// Label in results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// Ids of cases that must run first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Outcome when a dependency did not pass.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_dependency_failure: OnDependencyFailure,
    /// Turns of a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Conversation>,
    /// Workspace, merged over the suite's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// Commands that turn output files into text for judges, as the suite lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preprocessors: Vec<crate::grader::Preprocessor>,
}

impl Case {
    /// A case with an empty input and no graders.
    pub fn new(id: impl Into<String>, location: Location) -> Self {
        Self {
            id: id.into(),
            location,
            dir: String::new(),
            description: None,
            criteria: None,
            input: Input::Messages(Vec::new()),
            expected_output: Vec::new(),
            reference_solution: None,
            graders: Vec::new(),
            trials: Trials::default(),
            threshold: None,
            timeout_seconds: None,
            target: None,
            targets: Vec::new(),
            metadata: Object::new(),
            requires: Requires::default(),
            conversation_id: None,
            depends_on: Vec::new(),
            on_dependency_failure: OnDependencyFailure::default(),
            conversation: None,
            workspace: None,
            preprocessors: Vec::new(),
        }
    }
}

/// What the agent gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// Messages (cases layout).
    Messages(Vec<Message>),
    /// An object that only the agent understands (tasks layout).
    Data(Object),
}

/// Reference solution of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReferenceSolution {
    /// The expected outcome; opaque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<Object>,
    /// Where the solution comes from.
    pub source: ReferenceSource,
}

impl ReferenceSolution {
    /// An expected outcome and its source.
    pub fn new(expected_outcome: Option<Object>, source: ReferenceSource) -> Self {
        Self { expected_outcome, source }
    }
}

/// Where a [`ReferenceSolution`] comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReferenceSource {
    /// Written by a person.
    #[default]
    Manual,
    /// Recorded from a run.
    Captured,
    /// Made by a model.
    Synthesized,
}

/// Outcome of a case when one of its dependencies did not pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnDependencyFailure {
    /// The case is skipped.
    #[default]
    Skip,
    /// The case fails.
    Fail,
    /// The case still runs.
    Run,
}

/// Turns of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Conversation {
    /// The turns, at least one.
    pub turns: Vec<Turn>,
    /// How turn scores are combined.
    #[serde(default, skip_serializing_if = "is_default")]
    pub aggregation: Aggregation,
    /// What happens after a turn below the threshold.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_turn_failure: OnTurnFailure,
    /// History given to the agent: system messages and the last 2·n others. `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_size: Option<u32>,
}

impl Conversation {
    /// A conversation that runs all its turns; their mean score is the score of the case.
    pub fn new(turns: Vec<Turn>) -> Self {
        Self { turns, aggregation: Aggregation::Mean, on_turn_failure: OnTurnFailure::Continue, window_size: None }
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Turn {
    /// The user's message.
    pub input: Message,
    /// Reference answer of this turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected_output: Vec<Message>,
    /// Graders of this turn's reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub graders: Vec<Grader>,
}

impl Turn {
    /// A message of the user, its reference answer and the graders of the reply.
    pub fn new(input: Message, expected_output: Vec<Message>, graders: Vec<Grader>) -> Self {
        Self { input, expected_output, graders }
    }
}

/// How turn scores are combined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// Arithmetic mean.
    #[default]
    Mean,
    /// Lowest.
    Min,
    /// Highest.
    Max,
}

/// What happens after a turn below the threshold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnTurnFailure {
    /// The next turn runs.
    #[default]
    Continue,
    /// The remaining turns are not run and score 0.
    Stop,
}
