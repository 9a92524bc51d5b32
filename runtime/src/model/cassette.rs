//! The cassette of a trial: recorded replies of models, by request.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use evalsuite_schema::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::outcome::BoxError;

/// The cassette of one trial: recorded replies of models, by request.
///
/// Model calls that an agent makes through it are recorded with `EVALSUITE_MODE=record`. When the same case is recorded again,
/// only new requests are sent, so a change of the agent that keeps its requests causes no cost. A live run sends every request,
/// and a replay does not call the agent.
///
/// ```
/// use evalsuite::Trial;
/// use serde_json::json;
///
/// # async fn ask(prompt: &str) -> Result<String, std::io::Error> { Ok(prompt.to_owned()) }
/// async fn agent(trial: &mut Trial<'_>) -> Result<String, evalsuite::BoxError> {
///     let prompt = trial.prompt().to_owned();
///     let request = json!({"model": "small", "prompt": prompt});
///     let reply: String = trial.cassette().get_or_record(&request, async || ask(&prompt).await).await?;
///     Ok(reply)
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Cassette(pub(crate) Arc<dyn ReplyStore>);

/// The source of the replies in a [`Cassette`].
pub(crate) trait ReplyStore: fmt::Debug + Send + Sync {
    /// The recorded reply to a request, or whether the request has to be sent.
    fn look_up(&self, asker: Asker, request: Value) -> LookUp;

    /// Records a reply.
    fn keep(&self, request: Request, reply: Value) -> Result<(), CassetteError>;

    /// The requests in the replayed cassette.
    fn recorded_requests(&self) -> Vec<Value>;
}

/// The sender of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The agent: when recorded again, replies for the same input are reused.
    Agent,
    /// A judge: when recorded again, it is asked again.
    Judge,
    /// A judge that is not configured: only its recorded replies are available.
    AbsentJudge,
}

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum NoReply<E> {
    /// The call itself failed.
    Call(E),
    /// The replayed cassette has no reply for the request; the text says how to record it.
    Missing(String),
    /// The cassette cannot be written.
    NotKept(CassetteError),
}

/// A request that has to be sent.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) key: String,
    pub(crate) request: Value,
}

impl Cassette {
    /// The reply to a request: from the cassette, or from `call`, which is then recorded.
    ///
    /// Two requests are the same if their JSON is the same, in any order of keys and without fields like `timestamp` and
    /// `created_at`. The replies to a repeated request are returned in order.
    ///
    /// ```
    /// # async fn ask(request: &evalsuite_schema::Value) -> anyhow::Result<evalsuite_schema::Value> { Ok(request.clone()) }
    /// async fn agent(trial: &mut evalsuite::Trial<'_>) -> anyhow::Result<String> {
    ///     let request = evalsuite_schema::json::json!({"model": "small", "prompt": trial.prompt()});
    ///     let reply: evalsuite_schema::Value = trial.cassette().get_or_record(&request, || ask(&request)).await?;
    ///     Ok(reply["text"].to_string())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `call`; or if the request or reply cannot be converted to JSON, or the cassette cannot be written.
    pub async fn get_or_record<Q, R, E, F>(&self, request: &Q, call: F) -> Result<R, CassetteError>
    where
        Q: Serialize + ?Sized,
        R: Serialize + DeserializeOwned,
        E: Into<BoxError>,
        F: AsyncFnOnce() -> Result<R, E>,
    {
        let request = evalsuite_schema::json::to_value(request).map_err(CassetteError::json)?;
        match self.0.look_up(Asker::Agent, request) {
            LookUp::Found(reply) => evalsuite_schema::json::from_value(reply).map_err(CassetteError::json),
            LookUp::Missing(message) => Err(CassetteError::new(message)),
            LookUp::Ask(request) => {
                let reply = call().await.map_err(|error| CassetteError(error.into()))?;
                let kept = evalsuite_schema::json::to_value(&reply).map_err(CassetteError::json)?;
                self.0.keep(request, kept)?;
                Ok(reply)
            }
        }
    }

    /// [`get_or_record`](Self::get_or_record) for agents that are not async.
    ///
    /// # Errors
    ///
    /// As [`get_or_record`](Self::get_or_record).
    pub fn get_or_record_blocking<Q, R, E>(
        &self,
        request: &Q,
        call: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, CassetteError>
    where
        Q: Serialize + ?Sized,
        R: Serialize + DeserializeOwned,
        E: Into<BoxError>,
    {
        let request = evalsuite_schema::json::to_value(request).map_err(CassetteError::json)?;
        let call = || {
            let reply = call().map_err(|error| CassetteError(error.into()))?;
            evalsuite_schema::json::to_value(reply).map_err(CassetteError::json)
        };
        match self.reply(Asker::Agent, request, call) {
            Ok(reply) => evalsuite_schema::json::from_value(reply).map_err(CassetteError::json),
            Err(NoReply::Call(error) | NoReply::NotKept(error)) => Err(error),
            Err(NoReply::Missing(message)) => Err(CassetteError::new(message)),
        }
    }

    /// The reply to a request in the current mode: from the cassette, or from `call`, which is recorded in record mode.
    pub(crate) fn reply<E>(
        &self,
        asker: Asker,
        request: Value,
        call: impl FnOnce() -> Result<Value, E>,
    ) -> Result<Value, NoReply<E>> {
        match self.0.look_up(asker, request) {
            LookUp::Found(reply) => Ok(reply),
            LookUp::Missing(message) => Err(NoReply::Missing(message)),
            LookUp::Ask(request) => {
                let reply = call().map_err(NoReply::Call)?;
                self.0.keep(request, reply.clone()).map_err(NoReply::NotKept)?;
                Ok(reply)
            }
        }
    }
}

/// The result of looking up a request.
#[derive(Debug)]
pub(crate) enum LookUp {
    Found(Value),
    Ask(Request),
    Missing(String),
}

/// Why [`Cassette::get_or_record`] has no reply.
///
/// ```
/// use std::error::Error;
///
/// use evalsuite::CassetteError;
///
/// /// What the model's client said, if it was asked.
/// fn cause(error: &CassetteError) -> String {
///     error.source().map_or_else(|| error.to_string(), |source| source.to_string())
/// }
/// ```
#[derive(Debug)]
pub struct CassetteError(BoxError);

impl CassetteError {
    pub(crate) fn new(message: String) -> Self {
        Self(message.into())
    }

    fn json(error: serde_json::Error) -> Self {
        Self(format!("a request or reply cannot be recorded: {error}").into())
    }
}

impl fmt::Display for CassetteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for CassetteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // A skip request of the call has to be found, whatever the type of its error.
        Some(&*self.0)
    }
}
