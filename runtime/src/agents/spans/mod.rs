//! Transcripts from the `tracing` spans of instrumented agents.
//!
//! Libraries that follow OpenTelemetry's conventions for generative AI (`rig`, `genai`, instrumented code of one's own) open
//! spans around calls of models (`chat`), of tools (`execute_tool`) and of agents (`invoke_agent`), with what was said in
//! fields named `gen_ai.*`. Those seen during an agent's call become its transcript, unless it reports one itself.
//!
//! A span belongs to the trial of its nearest ancestor, else to the trial its thread works for: the thread of the agent's call,
//! on which tasks of its runtime run too, and the threads of that runtime's `spawn_blocking`. A span on any other thread is
//! found if it has an ancestor from one of these, and if the program's own subscriber holds [`capture_layer`].

#[cfg(feature = "capture")]
pub(crate) mod chat_span;
#[cfg(feature = "capture")]
pub(crate) mod span_fields;
#[cfg(feature = "capture")]
pub(crate) mod span_layer;
#[cfg(feature = "capture")]
pub(crate) mod span_messages;
#[cfg(feature = "capture")]
pub(crate) mod span_store;
#[cfg(feature = "capture")]
pub(crate) mod span_transcript;
#[cfg(feature = "capture")]
pub(crate) mod span_usage;
#[cfg(all(test, feature = "capture"))]
mod tests;
#[cfg(feature = "capture")]
pub(crate) mod thread_scope;
#[cfg(feature = "capture")]
pub(crate) mod thread_spans;
#[cfg(not(feature = "capture"))]
pub(crate) mod without_capture;

#[cfg(not(feature = "capture"))]
pub(crate) use crate::agents::spans::without_capture::Trace;

#[cfg(feature = "capture")]
pub use crate::agents::spans::span_layer::{CaptureLayer, capture_layer};

#[cfg(feature = "capture")]
pub(crate) use crate::agents::spans::thread_scope::Trace;
