use std::{error::Error, fmt};

use evalsuite_schema::{Message, Object, record::Usage};
use serde_json::Value;

/// An error of any kind, as agents return it.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What an agent did: its answer, and what it reports about its work.
///
/// A text is enough: `Outcome` is made from `String` and `&str`. What was recorded through
/// [`Trial`](crate::Trial) is added to it.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    pub(crate) text: Option<String>,
    pub(crate) messages: Option<Vec<Message>>,
    pub(crate) state: Object,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) duration_ms: Option<f64>,
    pub(crate) model: Option<String>,
    pub(crate) metadata: Object,
}

impl Outcome {
    /// An outcome without answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the answer.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Sets the transcript; it replaces messages and calls recorded through the trial.
    pub fn messages(mut self, messages: Vec<Message>) -> Self {
        self.messages = Some(messages);
        self
    }

    /// Adds a fact about the world the agent worked on, for graders to look at.
    pub fn state(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.state.insert(key.into(), value.into());
        self
    }

    /// Sets the tokens used; it replaces what was recorded through the trial.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the cost in US dollars, at least 0.
    pub fn cost_usd(mut self, cost: f64) -> Self {
        self.cost_usd = Some(cost);
        self
    }

    /// Sets the duration in milliseconds, at least 0, in place of the measured one.
    pub fn duration_ms(mut self, duration: f64) -> Self {
        self.duration_ms = Some(duration);
        self
    }

    /// Sets the model that answered.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds free-form data, kept in the record.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Why the outcome cannot be used, if a number makes no sense.
    pub(crate) fn defect(&self) -> Option<String> {
        let sane = |value: Option<f64>| value.is_none_or(|value| value.is_finite() && value >= 0.0);
        if !sane(self.cost_usd) {
            return Some("the agent reported a cost that is not a number of at least 0".to_owned());
        }
        if !sane(self.duration_ms) {
            return Some("the agent reported a duration that is not a number of at least 0".to_owned());
        }
        None
    }
}

impl From<String> for Outcome {
    fn from(text: String) -> Self {
        Self::new().text(text)
    }
}

impl From<&str> for Outcome {
    fn from(text: &str) -> Self {
        Self::new().text(text)
    }
}

/// Why an agent did not come to an outcome.
///
/// Agents may return errors of any type. This one can also say that the trial should be skipped; the request is
/// recognised through conversions and contexts of error crates such as `anyhow`.
#[derive(Debug)]
pub struct AgentError {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Skip(SkipRequest),
    Failed(String),
    Source(BoxError),
}

impl AgentError {
    /// The agent failed, for a reason.
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: Kind::Failed(message.into()) }
    }

    /// The trial cannot be run here and is skipped.
    pub fn skip(reason: impl Into<String>) -> Self {
        Self { kind: Kind::Skip(SkipRequest(reason.into())) }
    }

    /// The reason of a skip request, wherever in `self` or its sources it stands.
    pub fn skip_reason(&self) -> Option<&str> {
        if let Kind::Skip(request) = &self.kind {
            return Some(&request.0);
        }
        let mut next: Option<&(dyn Error + 'static)> = self.source();
        while let Some(error) = next {
            if let Some(request) = error.downcast_ref::<SkipRequest>() {
                return Some(&request.0);
            }
            next = error.source();
        }
        None
    }

    /// The message with those of all sources, each once.
    pub(crate) fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut next = self.source();
        while let Some(error) = next {
            let message = error.to_string();
            if !text.contains(&message) {
                text.push_str(": ");
                text.push_str(&message);
            }
            next = error.source();
        }
        text
    }

    pub(crate) fn from_boxed(error: BoxError) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self { kind: Kind::Source(error) },
        }
    }

    /// For errors that may not leave their thread: the text is kept, and a skip request.
    pub(crate) fn from_local(error: &(dyn Error + 'static)) -> Self {
        let mut next = Some(error);
        let mut text = String::new();
        while let Some(error) = next {
            if let Some(request) = error.downcast_ref::<SkipRequest>() {
                return Self::skip(request.0.clone());
            }
            if let Some(reason) = error.downcast_ref::<Self>().and_then(Self::skip_reason) {
                return Self::skip(reason);
            }
            let message = error.to_string();
            if !text.contains(&message) {
                if !text.is_empty() {
                    text.push_str(": ");
                }
                text.push_str(&message);
            }
            next = error.source();
        }
        Self::new(text)
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Skip(request) => write!(f, "{request}"),
            Kind::Failed(message) => f.write_str(message),
            Kind::Source(error) => write!(f, "{error}"),
        }
    }
}

impl Error for AgentError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            Kind::Skip(request) => Some(request),
            Kind::Failed(_) => None,
            // The boxed error itself is searched too: its type may hide an `AgentError` that only shows as a source.
            Kind::Source(error) => Some(&**error),
        }
    }
}

/// A source of its own, so that it is found below types that cannot be downcast.
#[derive(Debug)]
struct SkipRequest(String);

impl fmt::Display for SkipRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skipped: {}", self.0)
    }
}

impl Error for SkipRequest {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_request_is_found_through_anyhow_and_its_contexts() {
        fn agent() -> anyhow::Result<()> {
            Err(AgentError::skip("no key"))?;
            Ok(())
        }
        let plain = AgentError::from_boxed(agent().unwrap_err().into());
        assert_eq!(plain.skip_reason(), Some("no key"));
        let wrapped = AgentError::from_boxed(agent().unwrap_err().context("while starting").into());
        assert_eq!(wrapped.skip_reason(), Some("no key"));
        let local: Box<dyn Error> = Box::new(AgentError::skip("no key"));
        assert_eq!(AgentError::from_local(&*local).skip_reason(), Some("no key"));
    }

    #[test]
    fn the_chain_names_every_cause_once() {
        let error = anyhow::anyhow!("disk full").context("cannot save").context("agent gave up");
        assert_eq!(AgentError::from_boxed(error.into()).chain(), "agent gave up: cannot save: disk full");
    }
}
