//! Transcripts from the `tracing` spans of instrumented agents.
//!
//! Libraries that follow OpenTelemetry's conventions for generative AI (`rig`, `genai`, your own instrumented code)
//! open spans for calls of models (`chat`), of tools (`execute_tool`) and of agents (`invoke_agent`), with contents in
//! fields named `gen_ai.*`. The spans of an agent's call become its transcript, unless the agent reports one itself.
//!
//! A span belongs to the trial of its nearest ancestor; evalsuite opens a span around each call of an agent. A span
//! without such an ancestor belongs to the trial whose call enters it, or from which it follows, else to the only
//! running trial. If several trials run, it is in no transcript, and graders that need it are errors. A program that
//! sets its own subscriber adds [`capture_layer`] to it.

pub(crate) mod chat_span;
pub(crate) mod span_messages;
pub(crate) mod span_store;
pub(crate) mod span_transcript;
pub(crate) mod subscriber;
#[cfg(test)]
mod tests;
pub(crate) mod thread_scope;
pub(crate) mod tracked_span;

pub(crate) use crate::agents::spans::thread_scope::Trace;
pub use crate::agents::spans::tracked_span::{CaptureLayer, capture_layer};
