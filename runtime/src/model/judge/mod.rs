//! Judges as users write them: the traits, requests, replies and errors.

pub(crate) mod error;
pub(crate) mod registry;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod suite_judge;
pub(crate) mod untrusted;

use std::{error::Error, future::Future, marker::PhantomData, sync::Arc};

use crate::{model::outcome::BoxError, platform::cancel::Cancel};

pub use self::{
    error::JudgeError,
    reply::JudgeReply,
    request::{JudgeImage, JudgeRequest},
    suite_judge::SuiteJudge,
};

pub(crate) use self::{registry::Judges, untrusted::fenced};

/// A judge as a type, where a function is not enough.
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
    /// Answers one request. The text of the reply is read as grades.
    ///
    /// # Errors
    ///
    /// Whatever keeps the judge from a reply. It is asked again, unless the error is [permanent](JudgeError::permanent).
    fn judge(&self, request: JudgeRequest) -> impl Future<Output = Result<JudgeReply, JudgeError>>;

    /// Name in records; the type's path if not given.
    fn name(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }
}

/// What can be a judge: `async fn(JudgeRequest) -> Result<R, E>`, the same without `async`, or a [`Judge`].
///
/// `R` is anything that becomes a [`JudgeReply`], such as a `String`; `E` any error.
///
/// `Marker` tells these forms apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a judge",
    note = "a judge is `async fn(JudgeRequest) -> Result<String, E>`, the same without `async`, or a type that implements `evalsuite::Judge`"
)]
pub trait IntoJudge<Marker> {
    /// The judge in the form the suite keeps.
    fn into_judge(self) -> BoundJudge;
}

/// A judge bound to a suite.
#[derive(Clone)]
pub struct BoundJudge(pub(crate) Arc<dyn Answer>);

impl std::fmt::Debug for BoundJudge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BoundJudge").field(&self.0.name()).finish()
    }
}

/// What is left of a judge once its form does not matter: a call that blocks its thread.
pub(crate) trait Answer: Send + Sync {
    fn answer(&self, request: JudgeRequest, cancel: &Cancel) -> Result<JudgeReply, JudgeError>;

    /// Whether a cancelled call ends by itself.
    fn is_cooperative(&self) -> bool;

    fn name(&self) -> String;
}

fn finish(result: std::io::Result<Option<Result<JudgeReply, JudgeError>>>) -> Result<JudgeReply, JudgeError> {
    match result {
        Ok(Some(result)) => result,
        Ok(None) => Err(JudgeError::permanent("cancelled")),
        Err(error) => Err(JudgeError::permanent(format!("cannot start an async runtime: {error}"))),
    }
}

/// Marks types that implement [`Judge`].
#[derive(Debug)]
pub struct TypeJudge;

impl<J: Judge> IntoJudge<TypeJudge> for J {
    fn into_judge(self) -> BoundJudge {
        struct Typed<J>(J);

        impl<J: Judge> Answer for Typed<J> {
            fn answer(&self, request: JudgeRequest, cancel: &Cancel) -> Result<JudgeReply, JudgeError> {
                finish(cancel.block_on(self.0.judge(request)))
            }

            fn is_cooperative(&self) -> bool {
                true
            }

            fn name(&self) -> String {
                self.0.name()
            }
        }

        BoundJudge(Arc::new(Typed(self)))
    }
}

/// Marks async functions that return `R`.
#[derive(Debug)]
pub struct AsyncJudge<R, E>(PhantomData<fn() -> (R, E)>);

impl<F, R, E> IntoJudge<AsyncJudge<R, E>> for F
where
    F: AsyncFn(JudgeRequest) -> R + Send + Sync + 'static,
    R: JudgeResult<E> + 'static,
    E: 'static,
{
    fn into_judge(self) -> BoundJudge {
        struct Function<F, R, E>(F, PhantomData<fn() -> (R, E)>);

        impl<F, R, E> Answer for Function<F, R, E>
        where
            F: AsyncFn(JudgeRequest) -> R + Send + Sync,
            R: JudgeResult<E>,
        {
            fn answer(&self, request: JudgeRequest, cancel: &Cancel) -> Result<JudgeReply, JudgeError> {
                finish(cancel.block_on(async { (self.0)(request).await.into_reply() }))
            }

            fn is_cooperative(&self) -> bool {
                true
            }

            fn name(&self) -> String {
                std::any::type_name::<F>().to_owned()
            }
        }

        BoundJudge(Arc::new(Function(self, PhantomData)))
    }
}

/// Marks plain functions that return `R`.
#[derive(Debug)]
pub struct PlainJudge<R, E>(PhantomData<fn() -> (R, E)>);

impl<F, R, E> IntoJudge<PlainJudge<R, E>> for F
where
    F: Fn(JudgeRequest) -> R + Send + Sync + 'static,
    R: JudgeResult<E> + 'static,
    E: 'static,
{
    fn into_judge(self) -> BoundJudge {
        struct Function<F, R, E>(F, PhantomData<fn() -> (R, E)>);

        impl<F, R, E> Answer for Function<F, R, E>
        where
            F: Fn(JudgeRequest) -> R + Send + Sync,
            R: JudgeResult<E>,
        {
            fn answer(&self, request: JudgeRequest, _cancel: &Cancel) -> Result<JudgeReply, JudgeError> {
                (self.0)(request).into_reply()
            }

            fn is_cooperative(&self) -> bool {
                false
            }

            fn name(&self) -> String {
                std::any::type_name::<F>().to_owned()
            }
        }

        BoundJudge(Arc::new(Function(self, PhantomData)))
    }
}

/// What a judge function may return: `Result` of anything that becomes a [`JudgeReply`], with any error.
///
/// `Form` tells the forms of errors apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "a judge cannot return `{Self}`",
    note = "a judge returns `Result<R, E>`: `R` a `String`, a `&str` or a `JudgeReply`; `E` any error"
)]
pub trait JudgeResult<Form> {
    /// The reply, or why there is none.
    ///
    /// # Errors
    ///
    /// The judge's.
    fn into_reply(self) -> Result<JudgeReply, JudgeError>;
}

/// Marks errors that can be sent to other threads.
#[derive(Debug)]
pub struct SendJudgeError;

impl<R: Into<JudgeReply>, E: Into<BoxError>> JudgeResult<SendJudgeError> for Result<R, E> {
    fn into_reply(self) -> Result<JudgeReply, JudgeError> {
        self.map(Into::into).map_err(|error| JudgeError::from_source(&*error.into()))
    }
}

/// Marks `Box<dyn Error>`.
#[derive(Debug)]
pub struct LocalJudgeError;

impl<R: Into<JudgeReply>> JudgeResult<LocalJudgeError> for Result<R, Box<dyn Error>> {
    fn into_reply(self) -> Result<JudgeReply, JudgeError> {
        self.map(Into::into).map_err(|error| JudgeError::from_source(&*error))
    }
}
