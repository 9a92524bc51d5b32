//! The format of a recording.

use std::{collections::BTreeMap, fs, io, path::Path, time::Duration};

use evalsuite_schema::{Message, Object, record::Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    model::{captured_spans::Captured, outcome::Outcome, recording::Recording},
    platform::{
        files::{replace_file, write_json},
        redaction::Redactor,
    },
    record::cassette::AgentInput,
    workspace::{replayable_changes::ReplayableChanges, value_placeholders::Placeholders},
};

/// Everything that has to be known of a trial to have it again without its agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CassetteFile {
    /// [`CassetteFile::SCHEMA`].
    pub(crate) schema: String,
    pub(crate) suite: String,
    pub(crate) case_id: String,
    pub(crate) target: String,
    pub(crate) trial: u32,
    pub(crate) recorded_at: String,
    /// SHA-256 of `seen`, hexadecimal.
    pub(crate) input_digest: String,
    pub(crate) seen: AgentInput,
    /// The agent's calls in order: one, or one per turn of a conversation.
    pub(crate) calls: Vec<AgentCall>,
    /// Replies by [`request_key`](crate::record::cassette::request_key::request_key) of the request.
    #[serde(default)]
    pub(crate) entries: BTreeMap<String, Entry>,
}

/// What an agent did when it was called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AgentCall {
    pub(crate) started_at: String,
    pub(crate) ended_at: String,
    /// As measured.
    pub(crate) took_ms: u64,
    /// What it returned.
    pub(crate) returned: Returned,
    /// What it reported while it worked.
    pub(crate) reported: Reported,
    /// What it did to its workspace.
    pub(crate) workspace: ReplayableChanges,
}

/// An [`Outcome`], as it is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Returned {
    text: Option<String>,
    messages: Option<Vec<Message>>,
    state: Object,
    usage: Option<Usage>,
    cost_usd: Option<f64>,
    duration_ms: Option<f64>,
    model: Option<String>,
    metadata: Object,
}

/// A [`Recording`], as it is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Reported {
    messages: Vec<Message>,
    usage: Option<Usage>,
    log: String,
    complete: bool,
    #[serde(skip_serializing_if = "is_nothing")]
    captured: Captured,
}

fn is_nothing(captured: &Captured) -> bool {
    *captured == Captured::default()
}

/// What was asked, and what was replied: the same request may get another reply the next time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) request: Value,
    /// In the order in which they came.
    pub(crate) replies: Vec<Value>,
}

impl CassetteFile {
    /// Value of `schema` in recordings of this version.
    pub(crate) const SCHEMA: &'static str = "evalsuite.cassette/1";

    /// The recording at a place, with the values of this machine; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no recording of this version.
    pub(crate) fn read(path: &Path, placeholders: &Placeholders) -> Result<Option<Self>, String> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let broken = |error: serde_json::Error| format!("{} is no recording: {error}", path.display());
        let value: Value = serde_json::from_slice(&bytes).map_err(broken)?;
        match value.get("schema").and_then(Value::as_str) {
            Some(Self::SCHEMA) => {}
            found => {
                let found = found.unwrap_or("nothing");
                return Err(format!("{}: `schema` is {found}, not {}", path.display(), Self::SCHEMA));
            }
        }
        serde_json::from_value(placeholders.restore_in(value)).map(Some).map_err(broken)
    }

    /// Writes it so that readers see the whole of it or what was there before.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) fn write(&self, path: &Path, placeholders: &Placeholders) -> io::Result<()> {
        write_json(path, &placeholders.hide_in(serde_json::to_value(self)?), &Redactor::default())
    }

    /// The same for a file beside the record, which has to be whole, and need not outlive a crash of the machine.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) fn write_quickly(&self, path: &Path, placeholders: &Placeholders) -> io::Result<()> {
        let bytes = serde_json::to_vec(&placeholders.hide_in(serde_json::to_value(self)?))?;
        replace_file(path, &bytes)
    }
}

impl AgentCall {
    pub(crate) fn new(
        outcome: &Outcome,
        recording: &Recording,
        took: Duration,
        (started_at, ended_at): (String, String),
        workspace: ReplayableChanges,
    ) -> Self {
        let outcome = outcome.clone();
        let returned = Returned {
            text: outcome.text,
            messages: outcome.messages,
            state: outcome.state,
            usage: outcome.usage,
            cost_usd: outcome.cost_usd,
            duration_ms: outcome.duration_ms,
            model: outcome.model,
            metadata: outcome.metadata,
        };
        let recording = recording.clone();
        let reported = Reported {
            messages: recording.messages,
            usage: recording.outcome.usage,
            log: recording.log,
            complete: recording.complete,
            captured: recording.captured,
        };
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Self { started_at, ended_at, took_ms, returned, reported, workspace }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let Returned { text, messages, state, usage, cost_usd, duration_ms, model, metadata } = self.returned.clone();
        let usage = usage.or(self.reported.usage);
        Outcome { text, messages, state, usage, cost_usd, duration_ms, model, metadata }
    }

    pub(crate) fn recording(&self) -> Recording {
        let Reported { messages, usage, log, complete, captured } = self.reported.clone();
        Recording { messages, outcome: Outcome { usage, ..Outcome::default() }, log, complete, captured }
    }
}
