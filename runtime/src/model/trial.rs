//! A trial as the agent sees it.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use evalsuite_records::record::Usage;
use evalsuite_schema::{Input, Message, Object, ToolCall, Value};
use serde::de::DeserializeOwned;

use crate::model::cassette::Cassette;
use crate::model::command::{ChildGroups, CommandEnvironment, TrialCommand};
use crate::model::evidence::{Dependencies, Dependency, decode_input};
use crate::model::messages::messages_of;
use crate::model::recorder::Recorder;
use crate::platform::accessors::getters;
use crate::platform::environment;
use crate::platform::time_limit::Cancel;

/// One run of an agent on one case: the case as the agent gets it, and methods to record the agent's work.
///
/// `message`, `tool_call`, `usage`, `cost_usd` and `log` add to what was recorded before; `set_answer`, `set_model`,
/// `set_state` and `set_metadata` replace the earlier value. All recordings are kept if the agent fails, panics or
/// exceeds its time limit, and count in budgets. The [`Outcome`](crate::Outcome) that the agent returns takes
/// precedence. To record from a tool, a task or a thread, use a [`recorder`](Self::recorder).
///
/// ```
/// use evalsuite::{Message, Role, ToolCall, Trial, Usage};
/// use serde_json::json;
///
/// async fn card_agent(trial: &mut Trial<'_>) -> Result<String, std::io::Error> {
///     let card = trial.workspace().join("card.txt");
///     std::fs::write(&card, trial.prompt())?;
///     trial.message(Message::text(Role::Assistant, "I save the note."));
///     trial.tool_call(ToolCall::new("write_file").with_input(json!({"path": "card.txt"})).with_output("ok"));
///     trial.usage(Usage::new(350, 20));
///     trial.cost_usd(0.002);
///     trial.set_state("cards", 1);
///     Ok("Saved card.txt.".to_owned())
/// }
/// ```
///
/// `message`, `tool_call`, `usage` and `cost_usd` record their argument, as in [`Recorder`]. Graders read recordings
/// through [`Evidence`](crate::Evidence). In [`Outcome`](crate::Outcome), methods with these names are getters, and
/// `with_usage` and `with_cost_usd` are setters.
#[derive(Debug)]
pub struct Trial<'a> {
    shared: Arc<Shared>,
    _scope: PhantomData<&'a mut ()>,
}

/// The parts of a trial that outlive the agent's call, even an abandoned one.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) facts: Facts,
    pub(crate) recorder: Recorder,
    pub(crate) cancel: Cancel,
    pub(crate) groups: ChildGroups,
}

/// The data that the agent can read.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) case_id: String,
    pub(crate) agent_name: Option<String>,
    pub(crate) target: String,
    pub(crate) index: u32,
    pub(crate) turn: Option<u32>,
    pub(crate) input: Input,
    pub(crate) prompt: String,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) metadata: Object,
    pub(crate) workspace: PathBuf,
    pub(crate) suite_dir: PathBuf,
    pub(crate) case_dir: PathBuf,
    pub(crate) deadline: Instant,
    pub(crate) environment: CommandEnvironment,
    pub(crate) cassette: Cassette,
    pub(crate) dependencies: Arc<Dependencies>,
}

impl Trial<'_> {
    pub(crate) fn new(facts: Facts, recorder: Recorder, cancel: Cancel) -> (Self, Arc<Shared>) {
        let shared = Arc::new(Shared { facts, recorder, cancel, groups: ChildGroups::default() });
        (Self { shared: Arc::clone(&shared), _scope: PhantomData }, shared)
    }

    /// The messages of the input, in a conversation with those of its earlier turns; empty in the tasks layout.
    /// Messages recorded with [`message`](Self::message) are not included: they are the transcript, which graders get.
    pub fn messages(&self) -> &[Message] {
        messages_of(&self.shared.facts.input)
    }

    /// The input decoded into a type: the `input` object of a task, or the list of messages.
    ///
    /// # Errors
    ///
    /// If the input does not have the shape of `T`.
    pub fn input<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        decode_input(&self.shared.facts.input)
    }

    /// A value of the case's metadata.
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.shared.facts.metadata.get(key)
    }

    /// Result of a case in `depends_on`; `None` for any other case.
    pub fn dependency(&self, id: &str) -> Option<&Dependency> {
        self.shared.facts.dependencies.get(id)
    }

    /// Value of an environment variable of this process, or of the file that `EVALSUITE_ENV_FILE` names: its variables are not
    /// set in the process.
    pub fn env(&self, name: &str) -> Option<String> {
        environment::var(name)
    }

    /// Whether the agent's call was cancelled, for example after its time limit. A plain function should check this regularly
    /// and return; the future of an async function is dropped.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancel.is_requested()
    }

    /// A command to run in the workspace, with the `EVALSUITE_*` variables of this trial.
    ///
    /// It runs in its own process group, which is terminated when the time limit is exceeded and at the end of the
    /// trial.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> TrialCommand {
        let facts = &self.shared.facts;
        TrialCommand::new(program.as_ref(), &facts.workspace, &facts.environment, self.shared.groups.clone())
    }

    /// Returns a [`Recorder`], which records from anywhere while the trial runs. The methods below call it.
    pub fn recorder(&self) -> Recorder {
        self.shared.recorder.clone()
    }

    /// Records a message of the transcript. [`messages`](Self::messages) is the input and does not change.
    pub fn message(&self, message: Message) {
        self.shared.recorder.message(message);
    }

    /// Records a tool call. It becomes part of the last message if that is the assistant's, else of a new one.
    pub fn tool_call(&self, call: ToolCall) {
        self.shared.recorder.tool_call(call);
    }

    /// Records tokens used. Several calls add up.
    pub fn usage(&self, usage: Usage) {
        self.shared.recorder.usage(usage);
    }

    /// Records a cost in US dollars, at least 0. Several calls add up; an invalid number makes the agent's call an error.
    pub fn cost_usd(&self, cost: f64) {
        self.shared.recorder.cost_usd(cost);
    }

    /// Records a line of the trial's log.
    pub fn log(&self, line: impl AsRef<str>) {
        self.shared.recorder.log(line);
    }

    /// Sets the answer so far. It is used if the agent ends without returning a text or messages.
    pub fn set_answer(&self, answer: impl Into<String>) {
        self.shared.recorder.set_answer(answer);
    }

    /// Sets the name of the model that answers.
    pub fn set_model(&self, model: impl Into<String>) {
        self.shared.recorder.set_model(model);
    }

    /// Sets a fact about the environment the agent works on, for graders to check.
    pub fn set_state(&self, key: impl Into<String>, value: impl Into<Value>) {
        self.shared.recorder.set_state(key, value);
    }

    /// Sets a value of the free-form data in the record. The metadata of the case is [`metadata`](Self::metadata).
    pub fn set_metadata(&self, key: impl Into<String>, value: impl Into<Value>) {
        self.shared.recorder.set_metadata(key, value);
    }

    /// Marks the transcript as complete: a tool call that was not recorded was not made.
    ///
    /// Without this, an agent that records nothing and returns a text has not reported its tool calls, and graders that check them
    /// are errors.
    pub fn transcript_complete(&self) {
        self.shared.recorder.transcript_complete();
    }
}

getters! {
    impl Trial<'_> {
        /// Id of the case.
        pub fn case_id(self) -> &str { &self.shared.facts.case_id }

        /// Name of the agent in the suite's files, if they name one.
        pub fn agent_name(self) -> Option<&str> { self.shared.facts.agent_name.as_deref() }

        /// Name of the target; `default` if the suite has none.
        pub fn target(self) -> &str { &self.shared.facts.target }

        /// Index of this trial among those of its case, from 0.
        pub fn index(self) -> u32 { self.shared.facts.index }

        /// Number of the turn in a conversation, counted from 1 as in messages; `None` if the case is not a conversation. The agent is
        /// called once per turn; its input is the conversation so far, followed by the new message.
        pub fn turn(self) -> Option<u32> { self.shared.facts.turn.map(|index| index + 1) }

        /// The input as one text: the messages in order, files as their absolute paths.
        ///
        /// In the tasks layout it is `prompt` or `content` of the input if that is a string, else the input as JSON.
        pub fn prompt(self) -> &str { &self.shared.facts.prompt }

        /// Absolute paths of the files in the input, in order.
        pub fn files(self) -> &[PathBuf] { &self.shared.facts.files }

        /// The workspace: a fresh copy of the case's template, or an empty directory.
        pub fn workspace(self) -> &Path { &self.shared.facts.workspace }

        /// Directory of the suite. Agents must not write to it: a change in it rebuilds the tests.
        pub fn suite_dir(self) -> &Path { &self.shared.facts.suite_dir }

        /// Directory of the file that defines the case.
        pub fn case_dir(self) -> &Path { &self.shared.facts.case_dir }

        /// The cassette of this trial, for an agent that records its model calls.
        pub fn cassette(self) -> Cassette { self.shared.facts.cassette.clone() }

        /// When the time limit of the agent ends.
        pub fn deadline(self) -> Instant { self.shared.facts.deadline }
    }
}
