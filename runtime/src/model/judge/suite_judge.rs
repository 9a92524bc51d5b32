//! The judges of a suite, as graders in Rust call them.

use std::marker::PhantomData;
use std::sync::Arc;
use std::{fmt, thread};

use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use crate::model::judge::{InvalidReply, JudgeError, JudgeReply, JudgeRequest};

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
    /// A judge that is busy or cannot be reached is asked up to three times.
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
        self.ask_until(&request.into(), |reply| Ok(reply.clone()))
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
