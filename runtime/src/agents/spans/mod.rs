//! Transcripts from the `tracing` spans of instrumented agents.
//!
//! Libraries that follow OpenTelemetry's conventions for generative AI (`rig`, `genai`, instrumented code of one's own) open
//! spans around calls of models (`chat`), of tools (`execute_tool`) and of agents (`invoke_agent`), with what was said in
//! fields named `gen_ai.*`. Those seen during an agent's call become its transcript, unless it reports one itself.
//!
//! A span belongs to the trial of its nearest ancestor; around the call of an agent is a span of ours. A span without one belongs to
//! the trial whose call enters it, or that it follows from, else to the only trial that runs. Where several run, it is missing,
//! and graders that need it are errors. A program that sets a subscriber of its own adds [`capture_layer`] to it.

#[cfg(feature = "capture")]
pub(crate) mod chat_span;
#[cfg(feature = "capture")]
pub(crate) mod own_subscriber;
#[cfg(feature = "capture")]
pub(crate) mod running_calls;
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
