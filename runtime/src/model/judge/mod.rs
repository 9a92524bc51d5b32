//! Judges as users write them, and as graders in Rust call them: the traits, requests, replies and errors.

pub(crate) mod reply;
pub(crate) mod request;

use std::any::type_name;
use std::error::Error;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, thread};

use evalsuite_records::record::{ReasonCode, Usage};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use crate::model::callable::{AsyncFunction, Callable, Implements, LocalError, PlainFunction, SendError, block_on};
use crate::model::outcome::{BoxError, is_amount};
use crate::platform::accessors::getters;
use crate::platform::errors::chain;
use crate::platform::excerpt::chain_text;
use crate::platform::time_limit::Cancel;

pub use self::reply::JudgeReply;
pub use self::request::{JudgeImage, JudgeRequest};

pub(crate) use self::reply::InvalidReply;
pub(crate) use self::request::fenced;

/// A judge as a type, for a judge with its own data.
///
/// Functions are judges without this trait, see [`IntoJudge`].
///
/// ```
/// use evalsuite::{Judge, JudgeError, JudgeReply, JudgeRequest};
///
/// struct Strict;
///
/// impl Judge for Strict {
///     async fn judge(&self, request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
///         let score = if request.user().contains("please") { 1 } else { 0 };
///         Ok(JudgeReply::new(format!("{{\"score\": {score}}}")))
///     }
/// }
/// ```
pub trait Judge: Send + Sync + 'static {
    /// Replies to one request. The grader that asks reads its grades from the text of the reply.
    ///
    /// # Errors
    ///
    /// After an error the call is retried, unless the error is [permanent](JudgeError::permanent).
    fn judge(&self, request: JudgeRequest) -> impl Future<Output = Result<JudgeReply, JudgeError>>;

    /// Name in records. The default is the path of the type.
    fn name(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }
}

/// Types that can be a judge: `async fn(JudgeRequest) -> Result<R, E>`, the same without `async`, or a [`Judge`].
///
/// `R` is any type that converts into a [`JudgeReply`], such as `String`; `E` any error.
///
/// ```
/// use evalsuite::{Evals, EvalSuite, JudgeError, JudgeReply, JudgeRequest};
///
/// # async fn complete(_: &str, _: &str) -> Result<String, std::io::Error> { Ok(String::new()) }
/// async fn judge(request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
///     match complete(request.system(), request.user()).await {
///         Ok(text) => Ok(JudgeReply::new(text).with_model("small")),
///         Err(error) => Err(JudgeError::new(format!("the model cannot be reached: {error}"))),
///     }
/// }
///
/// # fn example(SUITE: &'static EvalSuite) -> Evals {
/// Evals::new(SUITE).with_judge(judge)
/// # }
/// ```
///
/// `Marker` distinguishes these forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a judge",
    note = "a judge is `async fn(JudgeRequest) -> Result<String, E>`, the same without `async`, or a type that implements `evalsuite::Judge`"
)]
pub trait IntoJudge<Marker> {
    /// The judge as [`Evals`](crate::Evals) stores it.
    fn into_judge(self) -> BoundJudge;
}

/// A judge of any form. It can be passed wherever a judge is expected.
///
/// ```
/// use evalsuite::{BoundJudge, IntoJudge, JudgeError, JudgeRequest};
///
/// async fn strict(request: JudgeRequest) -> Result<String, JudgeError> {
///     Ok(format!(r#"{{"score": 0, "reason": "{} bytes are too many"}}"#, request.user().len()))
/// }
///
/// let judge: BoundJudge = strict.into_judge();
/// ```
#[derive(Clone, Debug)]
pub struct BoundJudge(pub(crate) Callable<JudgeFunction>);

type JudgeFunction = dyn Fn(JudgeRequest, &Cancel) -> Result<JudgeReply, JudgeError> + Send + Sync + 'static;

impl BoundJudge {
    /// A judge that blocks its thread until it replies.
    pub(crate) fn blocking(
        name: impl Into<String>,
        judge: impl Fn(JudgeRequest) -> Result<JudgeReply, JudgeError> + Send + Sync + 'static,
    ) -> Self {
        Self(Callable::blocking(name, Arc::new(move |request: JudgeRequest, _: &Cancel| judge(request))))
    }
}

/// The largest number of judgements that follow a failing one.
pub(crate) const MOST_CONFIRM: u32 = 10;

/// The judges of a suite: the default one, and those that graders name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Judges {
    pub(crate) default: Option<BoundJudge>,
    /// Names of the default judges, if they are given by name.
    pub(crate) default_names: Vec<String>,
    pub(crate) named: Vec<(String, BoundJudge)>,
    /// Number of judgements that follow a failing one.
    pub(crate) confirm: Option<u32>,
}

impl Judges {
    /// Whether a grader that names no judge has one.
    pub(crate) fn has_default(&self) -> bool {
        self.default.is_some() || !self.default_names.is_empty()
    }
}

#[diagnostic::do_not_recommend]
impl IntoJudge<BoundJudge> for BoundJudge {
    fn into_judge(self) -> BoundJudge {
        self
    }
}

impl<J: Judge> IntoJudge<Implements> for J {
    fn into_judge(self) -> BoundJudge {
        let name = self.name();
        let judge = move |request: JudgeRequest, cancel: &Cancel| {
            block_on(cancel, self.judge(request)).map_err(JudgeError::permanent)?
        };
        BoundJudge(Callable::cooperative(name, Arc::new(judge)))
    }
}

impl<F, R, E> IntoJudge<AsyncFunction<R, E>> for F
where
    F: AsyncFn(JudgeRequest) -> R + Send + Sync + 'static,
    R: JudgeResult<E>,
{
    fn into_judge(self) -> BoundJudge {
        let judge = move |request: JudgeRequest, cancel: &Cancel| {
            block_on(cancel, async { self(request).await.into_reply() }).map_err(JudgeError::permanent)?
        };
        BoundJudge(Callable::cooperative(type_name::<F>(), Arc::new(judge)))
    }
}

impl<F, R, E> IntoJudge<PlainFunction<R, E>> for F
where
    F: Fn(JudgeRequest) -> R + Send + Sync + 'static,
    R: JudgeResult<E>,
{
    fn into_judge(self) -> BoundJudge {
        BoundJudge::blocking(type_name::<F>(), move |request| self(request).into_reply())
    }
}

/// Return types of judges: a `Result` of any type that converts into a [`JudgeReply`], with any error.
///
/// `Form` distinguishes the forms of errors and is always inferred.
#[diagnostic::on_unimplemented(
    message = "a judge cannot return `{Self}`",
    note = "a judge returns `Result<R, E>`: `R` a `String`, a `&str` or a `JudgeReply`; `E` any error"
)]
pub trait JudgeResult<Form> {
    /// The reply.
    ///
    /// # Errors
    ///
    /// The error of the judge.
    fn into_reply(self) -> Result<JudgeReply, JudgeError>;
}

impl<R: Into<JudgeReply>, E: Into<BoxError>> JudgeResult<SendError> for Result<R, E> {
    fn into_reply(self) -> Result<JudgeReply, JudgeError> {
        self.map(Into::into).map_err(|error| JudgeError::from_source(&*error.into()))
    }
}

impl<R: Into<JudgeReply>> JudgeResult<LocalError> for Result<R, Box<dyn Error>> {
    fn into_reply(self) -> Result<JudgeReply, JudgeError> {
        self.map(Into::into).map_err(|error| JudgeError::from_source(&*error))
    }
}

/// Why a judge gave no reply.
///
/// Judges may return errors of any type. This one can also say that a retry is useless, or how long to wait before it; both are
/// recognised through the conversions and contexts of error crates such as `anyhow`.
///
/// ```
/// use std::time::Duration;
///
/// use evalsuite::JudgeError;
///
/// fn error_of(status: u16) -> JudgeError {
///     match status {
///         401 => JudgeError::permanent("the key is not valid"),
///         429 => JudgeError::new("too many requests").with_retry_after(Duration::from_secs(20)),
///         _ => JudgeError::new(format!("status {status}")),
///     }
/// }
///
/// assert!(error_of(401).is_permanent() && !error_of(500).is_permanent());
/// assert_eq!(error_of(429).retry_after(), Some(Duration::from_secs(20)));
/// ```
///
/// A call can end in an error and cost something, such as one whose reply is not what was asked for. Its tokens and cost are
/// unknown unless the error [says](Self::with_cost_usd) what they are.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeError {
    message: String,
    call: FailedCall,
    /// Reason code for the record, if it is not [`ReasonCode::JudgeError`].
    code: Option<ReasonCode>,
}

/// What is known of a call without a reply: whether and when to retry it, and what it cost. It is a source of its own, so that it is found
/// below types that cannot be downcast.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct FailedCall {
    permanent: bool,
    after: Option<Duration>,
    usage: Option<Usage>,
    cost_usd: Option<f64>,
    /// It was not made, or was rejected.
    unpaid: bool,
}

impl JudgeError {
    /// The judge cannot be reached or is busy; the call is retried.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), call: FailedCall::default(), code: None }
    }

    /// The judge will never answer this request; the call is not retried.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self { call: FailedCall { permanent: true, ..FailedCall::default() }, ..Self::new(message) }
    }

    /// Sets how long to wait before the call is retried.
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.call.after = Some(wait);
        self
    }

    /// Sets the tokens that the call used.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.call.usage = Some(usage);
        self
    }

    /// Sets the cost of the call in US dollars: 0 if the service rejected it. A value that is not a number of at least 0 is unknown.
    #[must_use]
    pub fn with_cost_usd(mut self, cost: f64) -> Self {
        self.call.cost_usd = Some(cost).filter(|cost| is_amount(*cost));
        self
    }

    /// The same error of a call that was not made, or was rejected.
    pub(crate) fn unpaid(mut self) -> Self {
        self.call.unpaid = true;
        self
    }

    /// The same error after this reply, which was paid for.
    pub(crate) fn after(mut self, reply: &JudgeReply) -> Self {
        self.call.usage = reply.usage;
        self.call.cost_usd = reply.cost_usd.filter(|cost| is_amount(*cost));
        self
    }

    pub(crate) fn with_code(mut self, code: ReasonCode) -> Self {
        self.code = Some(code);
        self
    }

    /// The texts of an error and its sources, each once, and the retry of a `JudgeError` among them.
    pub(crate) fn from_source(error: &(dyn Error + 'static)) -> Self {
        let call = chain(error).filter_map(|error| error.downcast_ref::<FailedCall>()).last();
        Self { call: call.copied().unwrap_or_default(), ..Self::new(chain_text(error)) }
    }
}

getters! {
    impl JudgeError {
        /// Whether a retry is useless.
        pub fn is_permanent(self) -> bool { self.call.permanent }

        pub(crate) fn code(self) -> Option<ReasonCode> { self.code }

        /// How long the judge asks to wait before the call is retried.
        pub fn retry_after(self) -> Option<Duration> { self.call.after }

        pub(crate) fn is_unpaid(self) -> bool { self.call.unpaid }

        pub(crate) fn usage(self) -> Option<Usage> { self.call.usage }

        pub(crate) fn cost_usd(self) -> Option<f64> { self.call.cost_usd }
    }
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for JudgeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.call)
    }
}

impl fmt::Display for FailedCall {
    /// Empty: the error itself has the message.
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl Error for FailedCall {}

/// The requests of one grader.
pub(crate) trait Inquiry: fmt::Debug + Send + Sync {
    /// Asks a judge, and asks again if `read` rejects the reply with a reason.
    fn ask(
        &self,
        judge: Option<&str>,
        request: &JudgeRequest,
        read: &mut dyn FnMut(&JudgeReply) -> Result<(), InvalidReply>,
    ) -> Result<(), JudgeError>;
}

/// A judge of the suite, for graders in Rust: see [`Evidence::judge`](crate::Evidence::judge).
///
/// Its calls are treated like those of the built-in judge graders: their usage and cost are part of the grader's record
/// and of the budget, `EVALSUITE_MODE=record` records them and `EVALSUITE_MODE=replay` replays them.
///
/// **A call that fails makes the grader an error, regardless of its return value.** A grader therefore cannot mistake a
/// failed call for a judgement.
///
/// ```
/// use evalsuite::{Evidence, JudgeError, JudgeRequest, Score, Verdict};
///
/// #[derive(serde::Deserialize)]
/// struct Tone { polite: bool, why: String }
///
/// async fn tone(evidence: &Evidence<'_>) -> Result<Score, JudgeError> {
///     let request = JudgeRequest::new("", r#"Is the answer polite? Reply with {"polite": true or false, "why": "…"}."#)
///         .with_untrusted("answer", evidence.answer());
///     let tone: Tone = evidence.judge().ask_json(request).await?;
///     Ok(Score::from(tone.polite).with_rationale(tone.why))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct SuiteJudge<'a> {
    inquiry: Option<Arc<dyn Inquiry>>,
    name: Option<String>,
    _scope: PhantomData<&'a ()>,
}

impl SuiteJudge<'_> {
    pub(crate) fn new(inquiry: Option<Arc<dyn Inquiry>>, name: Option<String>) -> Self {
        Self { inquiry, name, _scope: PhantomData }
    }

    /// The judge's reply.
    ///
    /// A judge that is busy or cannot be reached, or whose service cuts off the reply, is asked up to three times; in the latter case once
    /// more, for a shorter reply.
    ///
    /// # Errors
    ///
    /// If there is no such judge, if it does not reply, or if the replayed cassette has no reply for this request. The grader is
    /// then an error.
    pub async fn ask(&self, request: impl Into<JudgeRequest>) -> Result<JudgeReply, JudgeError> {
        let (judge, request) = (self.detached(), request.into());
        on_own_thread(move || judge.ask_blocking(request)).await
    }

    /// [`ask`](Self::ask) for graders that are not async.
    ///
    /// # Errors
    ///
    /// As [`ask`](Self::ask).
    pub fn ask_blocking(&self, request: impl Into<JudgeRequest>) -> Result<JudgeReply, JudgeError> {
        self.ask_until(&request.into(), |reply| match reply.is_cut_off {
            true => Err("the reply does not end".into()),
            false => Ok(reply.clone()),
        })
    }

    /// The judge's reply, read as JSON: all of it, else the object from its first brace to its last.
    ///
    /// The prompt has to describe the JSON. If a reply cannot be read, the request is repeated, three attempts in total; then the
    /// judge is asked once to repair its reply.
    ///
    /// # Errors
    ///
    /// As [`ask`](Self::ask); and if no reply could be read.
    pub async fn ask_json<T>(&self, request: impl Into<JudgeRequest>) -> Result<T, JudgeError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let (judge, request) = (self.detached(), request.into());
        on_own_thread(move || judge.ask_json_blocking(request)).await
    }

    /// [`ask_json`](Self::ask_json) for graders that are not async.
    ///
    /// # Errors
    ///
    /// As [`ask_json`](Self::ask_json).
    pub fn ask_json_blocking<T: DeserializeOwned>(&self, request: impl Into<JudgeRequest>) -> Result<T, JudgeError> {
        self.ask_until(&request.into(), JudgeReply::json)
    }

    /// Asks until `read` accepts a reply; returns what it has read.
    fn ask_until<T>(
        &self,
        request: &JudgeRequest,
        read: impl Fn(&JudgeReply) -> Result<T, InvalidReply>,
    ) -> Result<T, JudgeError> {
        let Some(inquiry) = &self.inquiry else {
            return Err(JudgeError::permanent("a judge can only be asked by a grader while it grades"));
        };
        let mut accepted = None;
        inquiry.ask(self.name.as_deref(), request, &mut |reply| {
            accepted = Some(read(reply)?);
            Ok(())
        })?;
        accepted.ok_or_else(|| JudgeError::permanent("no reply was read"))
    }

    fn detached(&self) -> SuiteJudge<'static> {
        SuiteJudge::new(self.inquiry.clone(), self.name.clone())
    }
}

/// Runs blocking work on a thread of its own, so that it does not block the grader's other futures.
async fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, JudgeError> + Send + 'static,
) -> Result<T, JudgeError> {
    let (sender, receiver) = oneshot::channel();
    let name = thread::current().name().unwrap_or("evalsuite").to_owned();
    let spawned = thread::Builder::new().name(name).spawn(move || {
        // The receiver is gone if the grader exceeded its time limit.
        let _ = sender.send(work());
    });
    match spawned {
        Ok(_) => {
            receiver.await.unwrap_or_else(|_| Err(JudgeError::permanent("the judge's thread ended without a reply")))
        }
        Err(error) => Err(JudgeError::permanent(format!("the judge's thread cannot be started: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A judge whose service cuts off all its replies.
    #[derive(Debug)]
    struct CutOff(&'static str);

    impl Inquiry for CutOff {
        fn ask(
            &self,
            _: Option<&str>,
            _: &JudgeRequest,
            read: &mut dyn FnMut(&JudgeReply) -> Result<(), InvalidReply>,
        ) -> Result<(), JudgeError> {
            let reply = JudgeReply { is_cut_off: true, ..JudgeReply::new(self.0) };
            read(&reply).map_err(|defect| JudgeError::permanent(defect.to_string()))
        }
    }

    #[test]
    fn a_grader_gets_no_text_that_was_cut_off_and_whole_json() {
        let judge = |text| SuiteJudge::new(Some(Arc::new(CutOff(text))), None);
        let error = judge("PASS, unless").ask_blocking("?").unwrap_err();
        assert_eq!(error.to_string(), "the reply does not end");
        let read: evalsuite_schema::Value = judge("{\"polite\": true}").ask_json_blocking("?").unwrap();
        assert_eq!(read["polite"], true);
    }

    #[test]
    fn the_retry_of_an_error_is_found_through_contexts() {
        let wait = Duration::from_secs(7);
        let error = anyhow::Error::new(JudgeError::new("busy").with_retry_after(wait)).context("judging");
        let boxed: crate::model::outcome::BoxError = error.into();
        let found = JudgeError::from_source(&*boxed);
        assert_eq!(
            (found.to_string().as_str(), found.retry_after(), found.is_permanent()),
            ("judging: busy", Some(wait), false)
        );
        let boxed: crate::model::outcome::BoxError = anyhow::Error::new(JudgeError::permanent("no such model")).into();
        assert!(JudgeError::from_source(&*boxed).is_permanent());
    }
}
