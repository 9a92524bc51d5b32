//! A model behind an OpenAI-compatible endpoint.

mod wire;

use std::fmt;
use std::time::Duration;

use super::{Model, ModelError};
use crate::{ChatMessage, Completion, ToolSpec};

/// A model behind an OpenAI-compatible `/chat/completions` endpoint.
#[derive(Clone)]
pub struct OpenAiModel {
    http: ureq::Agent,
    url: String,
    model: String,
    key: Option<String>,
}

/// Time limit of one completion, long enough for a slow model with reasoning.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Maximum number of bytes of an error response to show.
const SHOWN_ERROR_BYTES: usize = 500;

impl OpenAiModel {
    /// The model `model` at an endpoint such as `https://api.openai.com/v1`, with an optional bearer token.
    pub fn new(base_url: impl AsRef<str>, model: impl Into<String>, key: Option<String>) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(TIME_LIMIT))
            // The body of an error response contains its reason.
            .http_status_as_error(false)
            .build();
        Self {
            http: config.into(),
            url: format!("{}/chat/completions", base_url.as_ref().trim_end_matches('/')),
            model: model.into(),
            key,
        }
    }

    /// Blocks the thread until the endpoint responds.
    fn send(&self, request: &wire::Request<'_>) -> Result<Completion, ModelError> {
        let mut post = self.http.post(&self.url);
        if let Some(key) = &self.key {
            post = post.header("authorization", format!("Bearer {key}"));
        }
        let mut response = post
            .send_json(request)
            .map_err(|error| ModelError::with_source(format!("cannot reach {}", self.url), error))?;
        let body = response
            .body_mut()
            .read_to_string()
            .map_err(|error| ModelError::with_source(format!("cannot read the response of {}", self.url), error))?;
        if !response.status().is_success() {
            let shown = body.trim();
            let end = shown.char_indices().map(|(at, _)| at).find(|at| *at >= SHOWN_ERROR_BYTES).unwrap_or(shown.len());
            return Err(ModelError::new(format!("{} answered {}: {}", self.url, response.status(), &shown[..end])));
        }
        wire::completion(&body, request.message_count()).map_err(|defect| defect.into_error(&self.url))
    }
}

impl Model for OpenAiModel {
    fn name(&self) -> &str {
        &self.model
    }

    async fn complete(&self, conversation: &[ChatMessage], tools: &[ToolSpec]) -> Result<Completion, ModelError> {
        let (this, conversation, tools) = (self.clone(), conversation.to_vec(), tools.to_vec());
        // On its own thread, so that a caller with a time limit can drop this future.
        tokio::task::spawn_blocking(move || this.send(&wire::request(&this.model, &conversation, &tools)))
            .await
            .map_err(|error| ModelError::with_source("the request was abandoned", error))?
    }
}

/// Omits the key.
impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel").field("url", &self.url).field("model", &self.model).finish_non_exhaustive()
    }
}
