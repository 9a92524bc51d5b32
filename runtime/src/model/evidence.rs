//! The data of a trial that graders get, with results of the cases that the case depends on.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evalsuite_records::record::{CaseRecord, Status, TrialRecord, Usage};
use evalsuite_schema::{Case, Content, Input, Message, Object, ReferenceSolution, Role, ToolCall, Value};
use serde::de::DeserializeOwned;

use crate::model::answer_files::AnswerFiles;
use crate::model::judge::{Inquiry, SuiteJudge};
use crate::model::messages::content_text;
use crate::model::recorder::{Recorded, Recorder};
use crate::platform::accessors::getters;

/// The input of a grader: the answer, the agent's work, and the case.
///
/// ```
/// use evalsuite::{Evidence, Score};
///
/// /// The agent saved what the reference asks for, with one call of `save_card` and for at most a cent.
/// fn saved_once(evidence: &Evidence<'_>) -> Result<Score, serde_json::Error> {
///     let expected: Option<String> = evidence.reference()?;
///     let Some(calls) = evidence.tool_calls() else {
///         return Ok(Score::undecided("the agent did not report its tool calls"));
///     };
///     let saved = calls.iter().filter(|call| call.tool == "save_card").count();
///     let cheap = evidence.cost_usd().is_none_or(|cost| cost <= 0.01);
///     let answered = expected.is_none_or(|expected| evidence.answer().contains(&expected));
///     Ok(Score::from(saved == 1 && cheap && answered).with_rationale(format!("{saved} calls of save_card")))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    facts: Arc<Facts>,
    /// What a `transform` has made of the answer.
    transformed: Option<Arc<str>>,
    /// The judges, while a grader runs.
    inquiry: Option<Arc<dyn Inquiry>>,
    _scope: PhantomData<&'a ()>,
}

/// The data behind [`Evidence`].
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) case_id: String,
    pub(crate) description: Option<String>,
    pub(crate) criteria: Option<String>,
    pub(crate) input: Option<Input>,
    pub(crate) metadata: Object,
    pub(crate) tags: Vec<String>,
    pub(crate) target: String,
    pub(crate) trial: u32,
    pub(crate) expected_output: Vec<Message>,
    pub(crate) reference_solution: Option<ReferenceSolution>,
    pub(crate) answer: String,
    /// `None` if the agent did not report its messages.
    pub(crate) transcript: Option<Vec<Message>>,
    /// Index of the first message of each turn in the transcript of a whole conversation.
    pub(crate) turns: Vec<usize>,
    /// Index of the first of the turns that a simulated user wrote.
    pub(crate) first_simulated_turn: Option<usize>,
    /// Whether the input is the conversation so far, not one request.
    pub(crate) is_conversation: bool,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) duration_ms: f64,
    pub(crate) started_at: String,
    pub(crate) ended_at: String,
    pub(crate) state: Object,
    pub(crate) files: AnswerFiles,
    pub(crate) model: Option<String>,
    pub(crate) agent_metadata: Object,
    /// Tools that were offered to the agent's models.
    pub(crate) tools: Vec<Value>,
    pub(crate) changes: WorkspaceChanges,
    pub(crate) diff: String,
    pub(crate) dependencies: Arc<Dependencies>,
    pub(crate) unknown: UnknownWork,
    /// What an agent in Rust recorded too late makes more of its work unknown, while graders run.
    pub(crate) recorder: Option<Recorder>,
}

impl Facts {
    /// What graders compare the answer with: the messages of `expected_output`, in the tasks layout the expected outcome.
    pub(crate) fn reference(&self) -> Cow<'_, [Message]> {
        match &self.reference_solution {
            Some(solution) => Cow::Owned(solution.messages()),
            None => Cow::Borrowed(&self.expected_output),
        }
    }

    /// What is known before the agent is called.
    pub(crate) fn of_case(case: &Case, target: &str) -> Self {
        Self {
            case_id: case.id.clone(),
            description: case.description.clone(),
            criteria: case.criteria.clone(),
            input: Some(case.input.clone()),
            metadata: case.metadata.clone(),
            target: target.to_owned(),
            expected_output: case.expected_output.clone(),
            reference_solution: case.reference_solution.clone(),
            ..Self::default()
        }
    }
}

/// Key in the metadata of a message that is a call which only an MCP server has shown.
pub(crate) const OF_SERVER: &str = "mcp";

fn is_of_server(message: &Message) -> bool {
    message.content.is_none() && message.metadata.as_ref().is_some_and(|metadata| metadata.get(OF_SERVER).is_some())
}

/// Whether some of the messages have a number of tokens, or a cost, and a message of a model has none: their sum is too small.
pub(crate) fn is_partial(messages: &[Message], is_known: fn(&Message) -> bool) -> bool {
    let is_of_model = |message: &&Message| {
        message.role == Role::Assistant && message.llm_call_count != Some(0) && !is_of_server(message)
    };
    messages.iter().any(is_known) && !messages.iter().filter(is_of_model).all(is_known)
}

/// What is not known of an agent's work, and why.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnknownWork {
    /// Why its calls of tools and models are not known.
    pub(crate) calls: Option<String>,
    /// Why its calls of models are not known, if its calls of tools are.
    pub(crate) model_calls: Option<String>,
    /// The tools whose calls are known, if it may have others.
    pub(crate) known_tools: Option<Vec<String>>,
    /// Why its tokens are not known.
    pub(crate) tokens: Option<String>,
    /// Why its cost is not known.
    pub(crate) cost: Option<String>,
}

/// Files the agent changed in its workspace: paths relative to it, sorted, with `/` separators.
///
/// ```
/// use evalsuite::{Evidence, Score};
///
/// fn changes_sources_only(evidence: &Evidence<'_>) -> Score {
///     let changes = evidence.changes();
///     let mut changed = changes.created.iter().chain(&changes.modified).chain(&changes.deleted);
///     match changed.find(|path| !path.starts_with("src/")) {
///         Some(path) => Score::fail(format!("{path} was changed")),
///         None => Score::pass(),
///     }
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceChanges {
    /// Files that are new.
    pub created: Vec<String>,
    /// Files whose content changed.
    pub modified: Vec<String>,
    /// Files that were removed.
    pub deleted: Vec<String>,
}

impl Evidence<'_> {
    pub(crate) fn new(facts: Facts) -> Self {
        Self { facts: Arc::new(facts), transformed: None, inquiry: None, _scope: PhantomData }
    }

    /// The same evidence for a grader on a thread of its own.
    pub(crate) fn detached(&self, inquiry: Arc<dyn Inquiry>) -> Evidence<'static> {
        let (facts, transformed) = (Arc::clone(&self.facts), self.transformed.clone());
        Evidence { facts, transformed, inquiry: Some(inquiry), _scope: PhantomData }
    }

    /// The same evidence with another text as the answer.
    pub(crate) fn with_answer(&self, answer: &str) -> Self {
        Self { transformed: Some(answer.into()), ..self.clone() }
    }

    /// The answer: the text of the last assistant message; empty without one. A grader with a `transform` gets the transformed text.
    pub fn answer(&self) -> &str {
        self.transformed.as_deref().unwrap_or(&self.facts.answer)
    }

    /// The default judge of the suite: the one configured in the environment, else the one of [`Evals`](crate::Evals); the
    /// first one, if there are several.
    ///
    /// Without a judge, calling it makes the grader an error. If the grader is registered with
    /// [`asks_judge`](crate::asks_judge), its case is skipped instead, before its agent runs.
    pub fn judge(&self) -> SuiteJudge<'_> {
        SuiteJudge::new(self.inquiry.clone(), None)
    }

    /// The judge with this name: one of [`Evals::with_named_judge`](crate::Evals::with_named_judge) (`judges` of the macro), else
    /// a command of the targets file.
    pub fn named_judge(&self, name: impl Into<String>) -> SuiteJudge<'_> {
        SuiteJudge::new(self.inquiry.clone(), Some(name.into()))
    }

    /// Why the calls of tools and models are not known.
    pub(crate) fn unknown_calls(&self) -> Option<&str> {
        self.facts.unknown.calls.as_deref().or_else(|| self.lost(Recorded::Calls))
    }

    /// Why the tokens are not known.
    pub(crate) fn unknown_tokens(&self) -> Option<&str> {
        self.facts.unknown.tokens.as_deref().or_else(|| self.lost(Recorded::Tokens))
    }

    /// Why the cost is not known.
    pub(crate) fn unknown_cost(&self) -> Option<&str> {
        self.facts.unknown.cost.as_deref().or_else(|| self.lost(Recorded::Cost))
    }

    fn lost(&self, what: Recorded) -> Option<&'static str> {
        self.facts.recorder.as_ref()?.lost(what)
    }

    /// All tool calls in order; `None` if the agent did not report them, or only some of them are known.
    pub fn tool_calls(&self) -> Option<Vec<&ToolCall>> {
        let transcript = self.transcript().filter(|_| self.unknown_calls().is_none())?;
        Some(transcript.iter().flat_map(|message| &message.tool_calls).collect())
    }

    /// Number of model calls; `None` if the agent did not report its messages, or only some of the calls are known. An assistant message that
    /// does not state its number is one call.
    pub fn llm_calls(&self) -> Option<u64> {
        let is_known = self.unknown_calls().is_none() && self.facts.unknown.model_calls.is_none();
        let transcript = self.transcript().filter(|_| is_known)?;
        let unstated = |message: &Message| u64::from(message.role == Role::Assistant && !is_of_server(message));
        let calls = transcript.iter().map(|message| message.llm_call_count.unwrap_or_else(|| unstated(message)));
        Some(calls.fold(0, u64::saturating_add))
    }

    /// The input decoded into a type: the `input` object of a task, or the list of messages.
    ///
    /// # Errors
    ///
    /// If the input does not have the shape of `T`.
    pub fn input<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        match &self.facts.input {
            Some(input) => decode_input(input),
            None => T::deserialize(Value::Null),
        }
    }

    /// The reference decoded into a type; `None` if the case has none.
    ///
    /// In the tasks layout it is `expected_outcome` of the reference solution. In the other layouts it is the last message of
    /// `expected_output`: its data, or its text, which is read as JSON unless `T` is a text.
    ///
    /// # Errors
    ///
    /// If the reference does not have the shape of `T`.
    pub fn reference<T: DeserializeOwned>(&self) -> serde_json::Result<Option<T>> {
        if let Some(solution) = &self.facts.reference_solution {
            return solution.expected_outcome.clone().map(|outcome| T::deserialize(Value::Object(outcome))).transpose();
        }
        let Some(message) = self.facts.expected_output.last() else { return Ok(None) };
        match &message.content {
            Some(Content::Data(value)) => T::deserialize(value.clone()).map(Some),
            Some(content) => {
                let text = content_text(content);
                T::deserialize(Value::String(text.clone()))
                    .or_else(|_| evalsuite_schema::json::from_str(&text))
                    .map(Some)
            }
            None => T::deserialize(evalsuite_schema::json::to_value(&message.tool_calls)?).map(Some),
        }
    }

    /// A value of the case's metadata.
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.facts.metadata.get(key)
    }

    /// Result of a case in `depends_on`; `None` for any other case.
    pub fn dependency(&self, id: &str) -> Option<&Dependency> {
        self.facts.dependencies.get(id)
    }
}

getters! {
    impl Evidence<'_> {
        pub(crate) fn facts(self) -> &Facts { &self.facts }

        /// Whether a `transform` has changed the answer.
        pub(crate) fn is_transformed(self) -> bool { self.transformed.is_some() }

        /// The transcript: messages and tool calls of the agent, in order; `None` if the agent did not report them.
        pub fn transcript(self) -> Option<&[Message]> { self.facts.transcript.as_deref() }

        /// Tokens used; `None` if the agent did not report them.
        pub fn usage(self) -> Option<Usage> { self.facts.usage.filter(|_| self.unknown_tokens().is_none()) }

        /// Cost in US dollars; `None` if the agent did not report it.
        pub fn cost_usd(self) -> Option<f64> { self.facts.cost_usd.filter(|_| self.unknown_cost().is_none()) }

        /// How long the agent worked, as reported or measured.
        pub fn duration(self) -> Duration {
            Duration::try_from_secs_f64(self.facts.duration_ms / 1000.0).unwrap_or(Duration::MAX)
        }

        /// Facts that the agent reported about the environment it worked on.
        pub fn state(self) -> &Object { &self.facts.state }

        /// Name of the model that answered; `None` if the agent did not report it.
        pub fn model(self) -> Option<&str> { self.facts.model.as_deref() }

        /// Free-form data that the agent reported. [`metadata`](Self::metadata) is that of the case.
        pub fn agent_metadata(self) -> &Object { &self.facts.agent_metadata }

        /// The trial's workspace, as the agent left it.
        pub fn workspace(self) -> &Path { &self.facts.files.workspace }

        /// Files the agent changed in the workspace.
        pub fn changes(self) -> &WorkspaceChanges { &self.facts.changes }

        /// The changes of the workspace as a unified diff.
        pub fn diff(self) -> &str { &self.facts.diff }

        /// Id of the case.
        pub fn case_id(self) -> &str { &self.facts.case_id }

        /// Description of the case, if it has one.
        pub fn description(self) -> Option<&str> { self.facts.description.as_deref() }

        /// Criteria of a good answer, if the case has them.
        pub fn criteria(self) -> Option<&str> { self.facts.criteria.as_deref() }

        /// The messages of `expected_output`; empty in the tasks layout.
        pub fn expected_output(self) -> &[Message] { &self.facts.expected_output }

        /// Labels of the case.
        pub fn tags(self) -> &[String] { &self.facts.tags }

        /// Name of the target.
        pub fn target(self) -> &str { &self.facts.target }

        /// Index of the trial, from 0.
        pub fn trial(self) -> u32 { self.facts.trial }
    }
}

/// Result of a case that another case depends on.
///
/// ```
/// use evalsuite::{AgentError, Trial};
///
/// /// Answers a case with `depends_on: [plan]`.
/// fn agent(trial: &mut Trial<'_>) -> Result<String, AgentError> {
///     let plan = trial.dependency("plan").and_then(|plan| plan.answer());
///     let plan = plan.ok_or_else(|| AgentError::skip("the case `plan` has no answer"))?;
///     Ok(format!("done: {plan}"))
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    outcome: Status,
    score: Option<f64>,
    answer: Option<String>,
}

impl Dependency {
    /// The answer is that of the first trial with the outcome of the case.
    pub(crate) fn of(case: &CaseRecord, trials: &[TrialRecord]) -> Self {
        let decisive = trials.iter().find(|trial| trial.outcome == case.outcome).or(trials.last());
        Self { outcome: case.outcome, score: case.score, answer: decisive.and_then(|trial| trial.answer.clone()) }
    }
}

getters! {
    impl Dependency {
        /// Outcome of the case.
        pub fn status(self) -> Status { self.outcome }

        /// Score of the case, 0 to 1; `None` if no trial was graded.
        pub fn score(self) -> Option<f64> { self.score }

        /// Answer of the agent, at most its first 64 KiB; `None` without one. With several trials, it is the answer of the first one
        /// with the outcome of the case.
        pub fn answer(self) -> Option<&str> { self.answer.as_deref() }
    }
}

/// The dependencies of a case by their ids.
pub(crate) type Dependencies = BTreeMap<String, Dependency>;

pub(crate) fn decode_input<T: DeserializeOwned>(input: &Input) -> serde_json::Result<T> {
    match input {
        Input::Data(object) => T::deserialize(Value::Object(object.clone())),
        Input::Messages(messages) => T::deserialize(evalsuite_schema::json::to_value(messages)?),
    }
}
