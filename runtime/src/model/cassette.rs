//! Replies of models by the request they answer.

use std::{error::Error, fmt, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::model::outcome::BoxError;

/// The recording of one trial: replies of models by the request they answer.
///
/// An agent that calls a model through it makes its calls part of the recording of a run with `EVALSUITE_MODE=record`. When
/// the same case is recorded again, only requests that are new are really made, so a change in the agent that leaves its
/// requests alone costs nothing. In a live run every request is made, and a replay does not call the agent at all.
#[derive(Debug, Clone)]
pub struct Cassette(Arc<dyn ReplyStore>);

/// Where a [`Cassette`] has its replies from.
pub(crate) trait ReplyStore: fmt::Debug + Send + Sync {
    /// The reply to a request, or whether it has to be asked for.
    fn look_up(&self, asker: Asker, request: Value) -> LookUp;

    /// Keeps a reply.
    ///
    /// # Errors
    ///
    /// If the recording cannot be written.
    fn keep(&self, request: Request, reply: Value) -> Result<(), String>;

    /// The requests of the recording that is replayed.
    fn recorded_requests(&self) -> Vec<Value>;
}

/// Who makes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The agent: recording it again reuses what was recorded for the same input.
    Agent,
    /// A judge: recording it again asks again.
    Judge,
    /// A judge that is not there: only what it once replied is.
    AbsentJudge,
}

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum NoReply<E> {
    /// The call itself failed.
    Call(E),
    /// The recording that is replayed has none; the text says how to record one.
    Missing(String),
    /// The recording cannot be written.
    NotKept(String),
}

/// A request that has to be made.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) key: String,
    pub(crate) request: Value,
}

impl Cassette {
    pub(crate) fn new(store: Arc<dyn ReplyStore>) -> Self {
        Self(store)
    }

    /// The reply to a request: from the recording, or from `call` and then kept there.
    ///
    /// Requests are the same if their JSON is, whatever the order of keys; fields like `timestamp` and `created_at` do not
    /// count. A request that is made several times has its replies in order.
    ///
    /// ```
    /// # async fn ask(request: &serde_json::Value) -> anyhow::Result<serde_json::Value> { Ok(request.clone()) }
    /// async fn agent(trial: &mut evalsuite::Trial<'_>) -> anyhow::Result<String> {
    ///     let request = serde_json::json!({"model": "small", "prompt": trial.prompt()});
    ///     let reply: serde_json::Value = trial.cassette().get_or_record(&request, || ask(&request)).await?;
    ///     Ok(reply["text"].to_string())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// That of `call`; or if the request or reply is not JSON, or the recording cannot be written.
    pub async fn get_or_record<Q, R, E, F>(&self, request: &Q, call: F) -> Result<R, CassetteError>
    where
        Q: Serialize + ?Sized,
        R: Serialize + DeserializeOwned,
        E: Into<BoxError>,
        F: AsyncFnOnce() -> Result<R, E>,
    {
        let request = serde_json::to_value(request).map_err(CassetteError::json)?;
        match self.0.look_up(Asker::Agent, request) {
            LookUp::Found(reply) => serde_json::from_value(reply).map_err(CassetteError::json),
            LookUp::Missing(message) => Err(CassetteError::new(message)),
            LookUp::Ask(request) => {
                let reply = call().await.map_err(|error| CassetteError(error.into()))?;
                let kept = serde_json::to_value(&reply).map_err(CassetteError::json)?;
                self.0.keep(request, kept).map_err(CassetteError::new)?;
                Ok(reply)
            }
        }
    }

    /// [`get_or_record`](Self::get_or_record) for agents that are no `async fn`.
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
        let request = serde_json::to_value(request).map_err(CassetteError::json)?;
        let call = || {
            let reply = call().map_err(|error| CassetteError(error.into()))?;
            serde_json::to_value(reply).map_err(CassetteError::json)
        };
        match self.reply(Asker::Agent, request, call) {
            Ok(reply) => serde_json::from_value(reply).map_err(CassetteError::json),
            Err(NoReply::Call(error)) => Err(error),
            Err(NoReply::Missing(message) | NoReply::NotKept(message)) => Err(CassetteError::new(message)),
        }
    }

    /// The reply to a request under the mode in force: from the recording, or from `call`, and then kept if this run is
    /// recorded.
    ///
    /// # Errors
    ///
    /// See [`NoReply`].
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

    /// The requests of the recording that is replayed.
    pub(crate) fn recorded_requests(&self) -> Vec<Value> {
        self.0.recorded_requests()
    }
}

/// What a store says to a request.
#[derive(Debug)]
pub(crate) enum LookUp {
    Found(Value),
    Ask(Request),
    Missing(String),
}

/// Why [`Cassette::get_or_record`] has no reply.
#[derive(Debug)]
pub struct CassetteError(BoxError);

impl CassetteError {
    fn new(message: String) -> Self {
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
        // A request of the call to skip the trial has to be found, whatever its error's type.
        Some(&*self.0)
    }
}
