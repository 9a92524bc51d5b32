//! Models: the trait and its implementations.

mod configured;
mod error;
mod openai;
mod scripted;

use std::future::Future;

use crate::{ChatMessage, Completion, ToolSpec};

pub use configured::{ConfigurationError, ConfiguredModel};
pub use error::ModelError;
pub use openai::OpenAiModel;
pub use scripted::ScriptedModel;

/// Continues a conversation with text or with tool calls.
pub trait Model {
    /// Name of the model in records.
    fn name(&self) -> &str;

    /// Returns the next completion of `conversation`.
    ///
    /// # Errors
    ///
    /// If there is no usable completion.
    fn complete(
        &self,
        conversation: &[ChatMessage],
        tools: &[ToolSpec],
    ) -> impl Future<Output = Result<Completion, ModelError>>;
}
