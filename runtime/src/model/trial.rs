use std::{
    marker::PhantomData,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use evalsuite_schema::{Input, Message, Object, ToolCall, record::Usage};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    model::{
        cassette::Cassette,
        command::{ChildGroups, Command, CommandEnvironment},
        dependency::{Dependencies, Dependency},
        recording::Recording,
    },
    platform::{cancel::Cancel, environment},
};

/// One run of an agent on one case: what the agent gets, and where it records what it does.
///
/// What was recorded is kept when the agent fails, panics or runs out of time.
#[derive(Debug)]
pub struct Trial<'a> {
    shared: Arc<Shared>,
    _scope: PhantomData<&'a mut ()>,
}

/// Everything of a trial that outlives the agent's call, even an abandoned one.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) facts: Facts,
    pub(crate) recording: Mutex<Recording>,
    pub(crate) cancel: Cancel,
    pub(crate) groups: ChildGroups,
}

/// What the agent can ask for.
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
    pub(crate) fn new(facts: Facts, cancel: Cancel) -> (Self, Arc<Shared>) {
        let shared = Arc::new(Shared { facts, recording: Mutex::default(), cancel, groups: ChildGroups::default() });
        (Self { shared: Arc::clone(&shared), _scope: PhantomData }, shared)
    }

    /// Id of the case.
    pub fn case_id(&self) -> &str {
        &self.shared.facts.case_id
    }

    /// Name of the agent, as the suite or the macro says.
    pub fn agent_name(&self) -> Option<&str> {
        self.shared.facts.agent_name.as_deref()
    }

    /// Name of the target, `default` if there is only one.
    pub fn target(&self) -> &str {
        &self.shared.facts.target
    }

    /// Index of this trial among those of its case, from 0.
    pub fn index(&self) -> u32 {
        self.shared.facts.index
    }

    /// Index of the turn in a conversation, from 0; `None` in a case that is none. An agent is called once per turn, with
    /// what was said before in front of what is said now.
    pub fn turn(&self) -> Option<u32> {
        self.shared.facts.turn
    }

    /// The input as one text: messages in order, files with their content.
    ///
    /// In the tasks layout this is `prompt` or `content` of the input if that is a string, else the input as JSON.
    pub fn prompt(&self) -> &str {
        &self.shared.facts.prompt
    }

    /// The input's messages; empty in the tasks layout.
    pub fn messages(&self) -> &[Message] {
        match &self.shared.facts.input {
            Input::Messages(messages) => messages,
            Input::Data(_) => &[],
        }
    }

    /// The input decoded into a type of the agent: the `input` object of a task, or the list of messages.
    ///
    /// # Errors
    ///
    /// If the input does not have the shape of `T`.
    pub fn input<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        decode_input(&self.shared.facts.input)
    }

    /// Absolute paths of the files in the input, in order.
    pub fn files(&self) -> &[PathBuf] {
        &self.shared.facts.files
    }

    /// A value of the case's metadata.
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.shared.facts.metadata.get(key)
    }

    /// What a case of `depends_on` came to; `None` for any other case.
    pub fn dependency(&self, id: &str) -> Option<&Dependency> {
        self.shared.facts.dependencies.get(id)
    }

    /// Directory to work in: a fresh copy of the case's workspace, or an empty directory.
    pub fn workspace(&self) -> &Path {
        &self.shared.facts.workspace
    }

    /// Directory of the suite. It is read-only to agents: a change in it would rebuild the tests.
    pub fn suite_dir(&self) -> &Path {
        &self.shared.facts.suite_dir
    }

    /// Directory of the file that defines the case.
    pub fn case_dir(&self) -> &Path {
        &self.shared.facts.case_dir
    }

    /// Value of an environment variable, also one of the file that `EVALSUITE_ENV_FILE` names: those lines do not become
    /// variables of this process.
    pub fn env(&self, name: &str) -> Option<String> {
        environment::var(name)
    }

    /// When the agent's time is up.
    pub fn deadline(&self) -> Instant {
        self.shared.facts.deadline
    }

    /// Whether the agent's time is up. Plain functions should ask now and then; async ones are dropped.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancel.is_requested()
    }

    /// A program to run in the workspace, with the `EVALSUITE_*` variables of this trial.
    ///
    /// It runs in a process group of its own, which is ended when the agent's time is up.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let facts = &self.shared.facts;
        Command::new(program.as_ref(), &facts.workspace, &facts.environment, self.shared.groups.clone())
    }

    /// The recording of this trial, for an agent whose model calls should be part of it.
    pub fn cassette(&self) -> Cassette {
        self.shared.facts.cassette.clone()
    }

    /// Records a message of the transcript.
    pub fn message(&mut self, message: Message) {
        self.shared.recording().messages.push(message);
    }

    /// Records a call of a tool; it belongs to the last message if that is the assistant's.
    pub fn tool_call(&mut self, call: ToolCall) {
        self.shared.recording().tool_call(call);
    }

    /// Records tokens; several calls add up.
    pub fn usage(&mut self, usage: Usage) {
        self.shared.recording().usage(usage);
    }

    /// Records a line of the trial's log.
    pub fn log(&mut self, line: impl AsRef<str>) {
        self.shared.recording().log(line.as_ref());
    }

    /// Declares that what was recorded, even if it is nothing, is everything that happened.
    ///
    /// Without this, an agent that records nothing and returns a text has not reported its tool calls, and graders
    /// that look at them score 0.
    pub fn transcript_complete(&mut self) {
        self.shared.recording().complete = true;
    }
}

impl Shared {
    /// A panic of the agent does not spoil what it recorded before.
    pub(crate) fn recording(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn decode_input<T: DeserializeOwned>(input: &Input) -> serde_json::Result<T> {
    match input {
        Input::Data(object) => T::deserialize(Value::Object(object.clone())),
        Input::Messages(messages) => T::deserialize(serde_json::to_value(messages)?),
    }
}
