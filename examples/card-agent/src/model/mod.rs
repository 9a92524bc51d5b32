mod configured;
mod error;
mod openai;
mod scripted;

use std::future::Future;

pub use configured::{ConfigurationError, ConfiguredModel};
pub use error::ModelError;
pub use openai::OpenAiModel;
pub use scripted::ScriptedModel;

use crate::{ChatMessage, Completion, ToolSpec};

/// What answers a conversation: with text, or with calls of tools.
pub trait Model {
    /// Name for records.
    fn name(&self) -> &str;

    /// The next answer in `conversation`.
    ///
    /// # Errors
    ///
    /// If there is no usable answer.
    fn complete(
        &self,
        conversation: &[ChatMessage],
        tools: &[ToolSpec],
    ) -> impl Future<Output = Result<Completion, ModelError>>;
}
