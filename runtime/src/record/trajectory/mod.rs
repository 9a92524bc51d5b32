//! The Agent Trajectory Interchange Format (ATIF): transcripts as documents that other tools read and write.
//!
//! Every trial leaves one, in version 1.8; agents may report their work as one, in any version up to it. What ATIF has no
//! field for (the form of a content, the name of a speaker) stands in `extra`, so that reading a document of ours gives
//! back the messages it was written from.

pub(crate) mod content;
pub(crate) mod document;
pub(crate) mod error;
pub(crate) mod node;
pub(crate) mod read;
pub(crate) mod step;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod write;

use crate::model::outcome::Outcome;

pub use crate::record::trajectory::error::TrajectoryError;

pub(crate) use crate::record::trajectory::{
    read::read,
    write::{Work, document},
};

/// Version of the documents that are written, the newest that is read.
const VERSION: &str = "ATIF-v1.8";

/// Keys of `extra` in documents of ours.
mod extra {
    /// Of the document: outcome, score and verdicts.
    pub(crate) const EVALSUITE: &str = "evalsuite";
    /// Of the document: `false` if there was no transcript, only an answer.
    pub(crate) const TRANSCRIPT_REPORTED: &str = "transcript_reported";
    /// Of a step or result: form of the content, where ATIF's does not tell it.
    pub(crate) const CONTENT: &str = "content_form";
    /// Of a call: form of the arguments, where they are no object.
    pub(crate) const ARGUMENTS: &str = "arguments_form";
    /// Of a result: the tool spoke in a message of its own.
    pub(crate) const MESSAGE: &str = "message";
    /// Of a step: its calls belong to the message before, whose role ATIF gives no calls.
    pub(crate) const CONTINUES: &str = "continues";
    /// Of a step: turn of the conversation, from 0.
    pub(crate) const TURN: &str = "turn";
}

impl Outcome {
    /// What an agent reports as a trajectory in the Agent Trajectory Interchange Format (ATIF), version 1.0 to 1.8:
    /// messages, tool calls and what they returned, tokens, cost and model. Keys ATIF does not know are ignored;
    /// trajectories of subagents are not part of the transcript.
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
    /// If it is no such document; the error names the place in it.
    pub fn from_trajectory(json: impl AsRef<[u8]>) -> Result<Self, TrajectoryError> {
        let read = self::read(json.as_ref())?;
        Ok(Self {
            text: read.messages.is_none().then_some(read.answer),
            messages: read.messages,
            usage: read.usage,
            cost_usd: read.cost_usd,
            model: read.model,
            ..Self::default()
        })
    }
}
