//! The return value of an agent: an outcome or an error.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use evalsuite_records::record::{Usage, duration, milliseconds};
use evalsuite_schema::{Message, Object, Value};

use crate::model::depth::{replace_too_deep, values_of};
use crate::platform::accessors::{getters, setters};
use crate::platform::errors::chain;
use crate::platform::excerpt::chain_text;

/// An error of any type, as agents return it.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The result of an agent: its answer, and data about its work.
///
/// It does not contain how the trial ended, which is a [`Status`](crate::Status).
///
/// A text is enough: `String` and `&str` convert into an outcome. Missing data is taken from the agent's recordings
/// through its [`Trial`](crate::Trial).
///
/// ```
/// use std::time::Duration;
///
/// use evalsuite::{Outcome, Usage};
///
/// let outcome = Outcome::new()
///     .with_text("Saved `meeting.toml`.")
///     .with_usage(Usage::new(1_200, 80))
///     .with_cost_usd(0.004)
///     .with_duration(Duration::from_millis(950))
///     .with_state("cards", 3);
/// assert_eq!(outcome.text(), Some("Saved `meeting.toml`."));
/// assert_eq!(Outcome::from("Saved."), Outcome::new().with_text("Saved."));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
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
    /// An outcome without an answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a fact about the environment the agent worked on, for graders to check.
    pub fn with_state(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.state.insert(key.into(), value.into());
        self
    }

    /// Sets a value of the free-form data in the record.
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// This outcome, with what it leaves out filled in from what was reported during the call.
    pub(crate) fn or_reported(self, mut reported: Self) -> Self {
        reported.state.extend(self.state);
        reported.metadata.extend(self.metadata);
        Self {
            // Messages have an answer of their own.
            text: self.text.or(reported.text.filter(|_| self.messages.is_none())),
            state: reported.state,
            usage: self.usage.or(reported.usage),
            cost_usd: self.cost_usd.or(reported.cost_usd),
            model: self.model.or(reported.model),
            metadata: reported.metadata,
            ..self
        }
    }

    /// Replaces values that no record can hold; returns whether there were any.
    pub(crate) fn replace_too_deep(&mut self) -> bool {
        let messages = self.messages.iter_mut().flatten().flat_map(values_of);
        replace_too_deep(self.state.values_mut().chain(self.metadata.values_mut()).chain(messages))
    }

    /// Why the outcome cannot be used: a number in it, or in its messages, is invalid. `recorded` are its messages if it has none of its own.
    pub(crate) fn defect(&self, recorded: &[Message]) -> Option<String> {
        let messages = self.messages.as_deref().unwrap_or(recorded);
        let costs = messages.iter().map(|message| ("cost", message.cost_usd));
        let mut numbers = costs.chain([("cost", self.cost_usd), ("duration", self.duration_ms)]);
        let (name, _) = numbers.find(|(_, number)| !number.is_none_or(is_amount))?;
        Some(format!("the agent reported a {name} that is not a number of at least 0"))
    }
}

setters! {
    impl Outcome {
        /// Sets the answer.
        pub fn with_text(text: impl Into<String>) { text = Some(text.into()) }

        /// Sets the transcript. It replaces the messages and tool calls that were recorded through the trial.
        pub fn with_messages(messages: Vec<Message>) { messages = Some(messages) }

        /// Sets the tokens used. They replace those that were recorded through the trial.
        pub fn with_usage(usage: Usage) { usage = Some(usage) }

        /// Sets the cost in US dollars, at least 0. It replaces the cost that was recorded through the trial.
        pub fn with_cost_usd(cost: f64) { cost_usd = Some(cost) }

        /// Sets how long the agent worked, in place of the measured duration.
        pub fn with_duration(duration: Duration) { duration_ms = Some(milliseconds(duration)) }

        /// Sets the name of the model that answered.
        pub fn with_model(model: impl Into<String>) { model = Some(model.into()) }
    }
}

getters! {
    impl Outcome {
        /// The answer; `None` if it is the text of the last assistant message.
        pub fn text(self) -> Option<&str> { self.text.as_deref() }

        /// The transcript; `None` if it is the one recorded through the trial.
        pub fn messages(self) -> Option<&[Message]> { self.messages.as_deref() }

        /// Facts about the environment the agent worked on.
        pub fn state(self) -> &Object { &self.state }

        /// Tokens used; `None` if they are not reported here.
        pub fn usage(self) -> Option<Usage> { self.usage }

        /// Cost in US dollars; `None` if it is not reported here.
        pub fn cost_usd(self) -> Option<f64> { self.cost_usd }

        /// How long the agent worked, if it reports this.
        pub fn duration(self) -> Option<Duration> { self.duration_ms.and_then(duration) }

        /// Name of the model that answered; `None` if it is not reported here.
        pub fn model(self) -> Option<&str> { self.model.as_deref() }

        /// Free-form data for the record.
        pub fn metadata(self) -> &Object { &self.metadata }
    }
}

/// Whether a number can be a cost or a duration.
pub(crate) fn is_amount(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

impl From<String> for Outcome {
    fn from(text: String) -> Self {
        Self::new().with_text(text)
    }
}

impl From<&str> for Outcome {
    fn from(text: &str) -> Self {
        Self::new().with_text(text)
    }
}

/// Why an agent has no outcome.
///
/// Agents may return errors of any type. This one can also skip the trial: the request is recognised through the conversions
/// and contexts of error crates such as `anyhow`.
///
/// ```
/// use evalsuite::{AgentError, Trial};
///
/// async fn agent(trial: &mut Trial<'_>) -> Result<String, AgentError> {
///     let key = trial.env("MODEL_API_KEY").ok_or_else(|| AgentError::skip("MODEL_API_KEY is not set"))?;
///     Ok(format!("key of {} characters", key.len()))
/// }
/// ```
#[derive(Debug)]
pub struct AgentError {
    kind: AgentErrorKind,
}

#[derive(Debug)]
enum AgentErrorKind {
    Failed(String),
    Source(BoxError),
}

impl AgentError {
    /// The agent failed; the message says why.
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: AgentErrorKind::Failed(message.into()) }
    }

    /// The trial cannot be run here and is skipped; the reason is part of the record. In a conversation, a skip after a turn that failed is an
    /// error, and after a guard that failed, the trial has failed.
    pub fn skip(reason: impl Into<String>) -> Self {
        Self { kind: AgentErrorKind::Source(Box::new(SkipRequest(reason.into()))) }
    }

    /// The reason of a skip request in this error or one of its sources.
    pub fn skip_reason(&self) -> Option<&str> {
        chain(self).find_map(|error| Some(error.downcast_ref::<SkipRequest>()?.0.as_str()))
    }

    /// The message with those of all sources, each once.
    pub(crate) fn chain(&self) -> String {
        chain_text(self)
    }

    pub(crate) fn from_boxed(error: BoxError) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self { kind: AgentErrorKind::Source(error) },
        }
    }

    /// Keeps the text and a skip request of an error that must not leave its thread.
    pub(crate) fn from_local(error: &(dyn Error + 'static)) -> Self {
        let skipped = chain(error).find_map(|error| match error.downcast_ref::<SkipRequest>() {
            Some(request) => Some(request.0.as_str()),
            None => error.downcast_ref::<Self>()?.skip_reason(),
        });
        skipped.map_or_else(|| Self::new(chain_text(error)), Self::skip)
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            AgentErrorKind::Failed(message) => f.write_str(message),
            AgentErrorKind::Source(error) => write!(f, "{error}"),
        }
    }
}

impl Error for AgentError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            AgentErrorKind::Failed(_) => None,
            // The boxed error itself is searched too: its type may hide an `AgentError` that only shows as a source.
            AgentErrorKind::Source(error) => Some(&**error),
        }
    }
}

/// It is a source of its own, so that it is found below types that cannot be downcast.
#[derive(Debug)]
struct SkipRequest(String);

impl fmt::Display for SkipRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skipped: {}", self.0)
    }
}

impl Error for SkipRequest {}

/// An outcome that took `duration_ms`, which may be shorter than a `Duration` can tell: recorded behaviour of other tools has such
/// values.
pub fn with_duration_ms(mut outcome: Outcome, duration_ms: f64) -> Outcome {
    outcome.duration_ms = Some(duration_ms);
    outcome
}

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
