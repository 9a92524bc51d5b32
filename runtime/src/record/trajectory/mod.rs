//! The Agent Trajectory Interchange Format (ATIF): transcripts as documents that other tools read and write.
//!
//! Every trial writes a document of version 1.8. Agents may report their work as a document of any version up to 1.8.
//! Data without a field in ATIF (the form of content, the name of a speaker) is in `extra`, so that reading a document
//! of evalsuite returns the original messages.

pub(crate) mod document;
pub(crate) mod read_document;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod write_document;

use std::fmt;

use crate::model::outcome::Outcome;

pub(crate) use crate::record::trajectory::document::TrialResult;
pub(crate) use crate::record::trajectory::read_document::read;
pub(crate) use crate::record::trajectory::write_document::{DocumentParts, document};

/// Version of written documents, and the newest version that can be read.
const VERSION: &str = "ATIF-v1.8";

/// Keys of `extra` in documents that evalsuite writes.
mod extra {
    /// Of the document: outcome, score and verdicts.
    pub(crate) const EVALSUITE: &str = "evalsuite";
    /// Of the document: `false` if there was no transcript, only an answer.
    pub(crate) const TRANSCRIPT_REPORTED: &str = "transcript_reported";
    /// Of a step or result: form of the content, where ATIF has no field for it.
    pub(crate) const CONTENT: &str = "content_form";
    /// Of a call: form of the arguments, where they are not an object.
    pub(crate) const ARGUMENTS: &str = "arguments_form";
    /// Of a result: the tool answered in a message of its own.
    pub(crate) const MESSAGE: &str = "message";
    /// Of a step: its calls belong to the previous message, whose role has no calls in ATIF.
    pub(crate) const CONTINUES: &str = "continues";
    /// Of a step: turn of the conversation, from 0.
    pub(crate) const TURN: &str = "turn";
    /// Of the first step of a turn: a simulated user wrote it.
    pub(crate) const SIMULATED: &str = "simulated";
}

impl Outcome {
    /// Reads the outcome from a trajectory in the Agent Trajectory Interchange Format (ATIF), version 1.0 to 1.8: messages, tool
    /// calls and their results, tokens, cost and model. Keys that ATIF does not define are ignored. Trajectories of subagents are
    /// not part of the transcript. Tokens and calls of models of copied context do not count. A total that is missing is the sum of
    /// the steps; tokens of which only those of prompts or only those of completions are reported are not known.
    ///
    /// ```
    /// let json = r#"{
    ///   "schema_version": "ATIF-v1.8",
    ///   "agent": {"name": "planner", "version": "2.1"},
    ///   "steps": [
    ///     {"step_id": 1, "source": "user", "message": "What is the time?"},
    ///     {"step_id": 2, "source": "agent", "message": "",
    ///      "tool_calls": [{"tool_call_id": "a", "function_name": "clock", "arguments": {}}],
    ///      "observation": {"results": [{"source_call_id": "a", "content": "12:30"}]}},
    ///     {"step_id": 3, "source": "agent", "message": "It is half past twelve."}
    ///   ]
    /// }"#;
    /// let outcome = evalsuite::Outcome::from_trajectory(json)?;
    /// # Ok::<(), evalsuite::TrajectoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If it is not such a document. The error names the invalid value.
    pub fn from_trajectory(json: impl AsRef<[u8]>) -> Result<Self, TrajectoryError> {
        self::read(json.as_ref())
    }
}

/// An invalid trajectory.
///
/// The message names the invalid value and what was expected.
///
/// ```
/// use evalsuite::Outcome;
///
/// let error = Outcome::from_trajectory(r#"{"schema_version": "ATIF-v1.8", "steps": 3}"#).unwrap_err();
/// assert!(error.to_string().contains("steps"), "{error}");
/// ```
#[derive(Debug)]
pub struct TrajectoryError {
    message: String,
    source: Option<serde_json::Error>,
}

impl TrajectoryError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    pub(crate) fn json(error: serde_json::Error) -> Self {
        Self { message: "the trajectory is not valid JSON".to_owned(), source: Some(error) }
    }
}

impl fmt::Display for TrajectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TrajectoryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}
