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
