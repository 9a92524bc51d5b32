use std::{env, error::Error, fmt};

use super::{Model, ModelError, OpenAiModel, ScriptedModel};
use crate::{ChatMessage, Completion, ToolSpec};

/// The model the environment asks for.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfiguredModel {
    /// Rules, offline.
    Scripted(ScriptedModel),
    /// An OpenAI-compatible endpoint.
    OpenAi(OpenAiModel),
}

impl ConfiguredModel {
    /// The endpoint at `OPENAI_BASE_URL` with the model `OPENAI_MODEL` and the key `OPENAI_API_KEY`; the scripted model
    /// if there is no `OPENAI_BASE_URL`. An empty variable counts as none.
    ///
    /// # Errors
    ///
    /// If there is an endpoint and no `OPENAI_MODEL`. Local endpoints need no key.
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

/// There is an endpoint, but no model to ask it for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigurationError;

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OPENAI_BASE_URL is set, so OPENAI_MODEL has to name a model")
    }
}

impl Error for ConfigurationError {}
