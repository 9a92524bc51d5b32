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
    /// `earlier`: how many replies to this request a judge has given for the same purpose, such as its earlier votes. Recorded replies are
    /// used again only for another purpose, such as another made-up result.
    fn look_up(&self, asker: Asker<'_>, request: Value, earlier: u32) -> LookUp;

    /// Records a reply.
    fn keep(&self, request: Request, reply: Value) -> Result<(), CassetteError>;

    /// The requests in the replayed cassette.
    fn recorded_requests(&self) -> Vec<Value>;
}

/// The sender of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker<'m> {
    /// The agent: when recorded again, replies for the same input are reused.
    Agent,
    /// A judge: when recorded again, it is asked again. A reply of another model than this one is not its reply.
    Judge(Option<&'m str>),
    /// A judge that is not configured, or not called: only its recorded replies are available. Those of another model or command are not.
    AbsentJudge(Option<&'m str>),
}

/// Key of a judge's reply: the model that was asked, which may answer under a longer name. Older recordings do not have it.
pub(crate) const ASKED_MODEL: &str = "asked_model";

/// Beginning of what is in place of the model of a judge that is a command: a digest of the command and of the files that it names follows.
pub(crate) const OF_COMMAND: &str = "command ";

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
        let request = match self.look_up(request)? {
            Ok(reply) => return Ok(reply),
            Err(request) => request,
        };
        self.keep(request, call().await)
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
        match self.look_up(request)? {
            Ok(reply) => Ok(reply),
            Err(request) => self.keep(request, call()),
        }
    }

    /// The recorded reply to a request of the agent, or the request if it has to be sent.
    fn look_up<R: DeserializeOwned>(
        &self,
        request: &(impl Serialize + ?Sized),
    ) -> Result<Result<R, Request>, CassetteError> {
        let request = evalsuite_schema::json::to_value_by_serde(request).map_err(CassetteError::json)?;
        match self.0.look_up(Asker::Agent, request, 0) {
            LookUp::Found(reply) => evalsuite_schema::json::from_value(reply).map(Ok).map_err(CassetteError::json),
            LookUp::Missing(message) | LookUp::Stale(message) => Err(CassetteError::new(message)),
            LookUp::Ask(request) => Ok(Err(request)),
        }
    }

    /// Records the reply to a request that was sent.
    fn keep<R: Serialize, E: Into<BoxError>>(&self, request: Request, reply: Result<R, E>) -> Result<R, CassetteError> {
        let reply = reply.map_err(|error| CassetteError(error.into()))?;
        self.0.keep(request, evalsuite_schema::json::to_value_by_serde(&reply).map_err(CassetteError::json)?)?;
        Ok(reply)
    }
}

/// The result of looking up a request.
#[derive(Debug)]
pub(crate) enum LookUp {
    Found(Value),
    Ask(Request),
    /// The replayed cassette is of another request, or has the reply of another model; the text says what differs and how to record it.
    Stale(String),
    /// The replayed cassette has no reply for the request; the text says how to record it.
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
