//! The model that the environment selects.

use std::error::Error;
use std::{env, fmt};

use super::{Model, ModelError, OpenAiModel, ScriptedModel};
use crate::{ChatMessage, Completion, ToolSpec};

/// The model that the environment selects.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfiguredModel {
    /// Rules, offline.
    Scripted(ScriptedModel),
    /// An OpenAI-compatible endpoint.
    OpenAi(OpenAiModel),
}

impl ConfiguredModel {
    /// The endpoint at `OPENAI_BASE_URL` with the model `OPENAI_MODEL` and the key `OPENAI_API_KEY`, or the scripted model
    /// if `OPENAI_BASE_URL` is not set. An empty variable counts as unset.
    ///
    /// # Errors
    ///
    /// If `OPENAI_BASE_URL` is set and `OPENAI_MODEL` is not. The key is optional, because local endpoints need none.
    pub fn from_env() -> Result<Self, ConfigurationError> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let Some(url) = variable("OPENAI_BASE_URL") else { return Ok(Self::Scripted(ScriptedModel::new())) };
        let model = variable("OPENAI_MODEL").ok_or(ConfigurationError)?;
        Ok(Self::OpenAi(OpenAiModel::new(url, model, variable("OPENAI_API_KEY"))))
    }
}

impl Model for ConfiguredModel {
    fn name(&self) -> &str {
        match self {
            Self::Scripted(model) => model.name(),
            Self::OpenAi(model) => model.name(),
        }
    }

    async fn complete(&self, conversation: &[ChatMessage], tools: &[ToolSpec]) -> Result<Completion, ModelError> {
        match self {
            Self::Scripted(model) => model.complete(conversation, tools).await,
            Self::OpenAi(model) => model.complete(conversation, tools).await,
        }
    }
}

/// `OPENAI_BASE_URL` is set, but `OPENAI_MODEL` is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigurationError;

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OPENAI_MODEL must be set if OPENAI_BASE_URL is set")
    }
}

impl Error for ConfigurationError {}
