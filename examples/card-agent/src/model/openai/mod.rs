mod wire;

use std::{fmt, time::Duration};

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

/// One answer of a slow model, thinking included.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Bytes of an error page worth showing.
const SHOWN: usize = 500;

impl OpenAiModel {
    /// The model `model` at an endpoint such as `https://api.openai.com/v1`, with a bearer token if it wants one.
    pub fn new(base_url: impl AsRef<str>, model: impl Into<String>, key: Option<String>) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(TIME_LIMIT))
            // The body of an error says what is wrong with the request.
            .http_status_as_error(false)
            .build();
        Self {
            http: config.into(),
            url: format!("{}/chat/completions", base_url.as_ref().trim_end_matches('/')),
            model: model.into(),
            key,
        }
    }

    /// Blocks its thread until the endpoint has answered.
    fn ask(&self, request: &wire::Request<'_>) -> Result<Completion, ModelError> {
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
            .map_err(|error| ModelError::with_source(format!("cannot read the answer of {}", self.url), error))?;
        if !response.status().is_success() {
            let shown = body.trim();
            let end = shown.char_indices().map(|(at, _)| at).find(|at| *at >= SHOWN).unwrap_or(shown.len());
            return Err(ModelError::new(format!("{} answered {}: {}", self.url, response.status(), &shown[..end])));
        }
        wire::completion(&body, request.turn()).map_err(|error| error.at(&self.url))
    }
}

impl Model for OpenAiModel {
    fn name(&self) -> &str {
        &self.model
    }

    async fn complete(&self, conversation: &[ChatMessage], tools: &[ToolSpec]) -> Result<Completion, ModelError> {
        let (this, conversation, tools) = (self.clone(), conversation.to_vec(), tools.to_vec());
        // On a thread of its own, so that a caller with a time limit can drop this future.
        tokio::task::spawn_blocking(move || this.ask(&wire::request(&this.model, &conversation, &tools)))
            .await
            .map_err(|error| ModelError::with_source("the request was abandoned", error))?
    }
}

/// Without the key.
impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel").field("url", &self.url).field("model", &self.model).finish_non_exhaustive()
    }
}
