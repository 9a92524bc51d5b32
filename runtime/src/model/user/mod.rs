//! Simulated users as functions: their form, their requests and replies.

pub(crate) mod reply;
pub(crate) mod request;

use std::any::type_name;
use std::error::Error;
use std::sync::Arc;

use crate::model::callable::{AsyncFunction, Callable, LocalError, PlainFunction, SendError, block_on, registered};
use crate::model::judge::{BoundJudge, JudgeError, JudgeRequest};
use crate::model::outcome::BoxError;
use crate::platform::async_runtime::AsyncRuntime;
use crate::platform::cancel::Cancel;

pub use self::reply::UserReply;
pub use self::request::UserRequest;

/// Functions that can be a simulated user: `async fn(UserRequest) -> Result<R, E>`, or the same without `async`.
///
/// `R` is any type that converts into a [`UserReply`], such as `String`; `E` any error. A case names the function in
/// `conversation: {user: NAME}`, and the macro lists it in `users`. What it says is recorded and replayed as the replies of judges are, so
/// it does not have to say the same in every run.
///
/// ```
/// use std::convert::Infallible;
///
/// use evalsuite::{EvalSuite, Evals, UserReply, UserRequest};
///
/// /// Asks for a refund until the agent grants it.
/// fn angry_customer(request: UserRequest) -> Result<UserReply, Infallible> {
///     Ok(match request.turn() {
///         _ if request.answer().contains("refund is on its way") => UserReply::done(),
///         1 => "My lamp arrived broken. I want my money back!".into(),
///         _ => "That is not what I asked for. Refund it!".into(),
///     })
/// }
///
/// # fn example(SUITE: &'static EvalSuite) -> Evals {
/// Evals::new(SUITE).with_user("angry_customer", angry_customer)
/// # }
/// ```
///
/// `Marker` distinguishes these forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a simulated user",
    note = "a simulated user is `async fn(UserRequest) -> Result<UserReply, E>`, or the same without `async`"
)]
pub trait IntoUser<Marker> {
    /// The user as [`Evals`](crate::Evals) stores it.
    fn into_user(self) -> BoundUser;
}

/// A simulated user of either form.
///
/// ```
/// use evalsuite::{BoundUser, IntoUser, UserRequest};
///
/// let user: BoundUser = (|_: UserRequest| Ok::<_, std::fmt::Error>("Hello")).into_user();
/// ```
#[derive(Clone, Debug)]
pub struct BoundUser(Callable<UserFunction>);

type UserFunction = dyn Fn(UserRequest, &Cancel) -> Result<UserReply, JudgeError> + Send + Sync + 'static;

impl BoundUser {
    /// The user with a request, as the judge that writes its turn.
    pub(crate) fn asked(&self, request: UserRequest) -> BoundJudge {
        let function = Arc::clone(&self.0.function);
        let judge =
            move |_: JudgeRequest, cancel: &Cancel| function(request.clone(), cancel).map(UserReply::into_judge_reply);
        BoundJudge(self.0.with_function(Arc::new(judge)))
    }
}

#[diagnostic::do_not_recommend]
impl IntoUser<BoundUser> for BoundUser {
    fn into_user(self) -> BoundUser {
        self
    }
}

impl<F, R, E> IntoUser<AsyncFunction<R, E>> for F
where
    F: AsyncFn(UserRequest) -> R + Send + Sync + 'static,
    R: UserResult<E>,
{
    fn into_user(self) -> BoundUser {
        let user = move |request: UserRequest, cancel: &Cancel| {
            block_on(cancel, async { self(request).await.into_reply() }).map_err(JudgeError::permanent)?
        };
        BoundUser(Callable::cooperative(type_name::<F>(), Arc::new(user)))
    }
}

impl<F, R, E> IntoUser<PlainFunction<R, E>> for F
where
    F: Fn(UserRequest) -> R + Send + Sync + 'static,
    R: UserResult<E>,
{
    fn into_user(self) -> BoundUser {
        let user = move |request: UserRequest, _: &Cancel| self(request).into_reply();
        BoundUser(Callable::blocking(type_name::<F>(), Arc::new(user)))
    }
}

/// Return types of simulated users: a `Result` of any type that converts into a [`UserReply`], with any error.
///
/// After an error the function is called again, up to three times, unless it is a [permanent](JudgeError::permanent) [`JudgeError`].
///
/// `Form` distinguishes the forms of errors and is always inferred.
#[diagnostic::on_unimplemented(
    message = "a simulated user cannot return `{Self}`",
    note = "it returns `Result<R, E>`: `R` a `String`, a `&str` or a `UserReply`; `E` any error"
)]
pub trait UserResult<Form> {
    /// The reply.
    ///
    /// # Errors
    ///
    /// The error of the user.
    fn into_reply(self) -> Result<UserReply, JudgeError>;
}

impl<R: Into<UserReply>, E: Into<BoxError>> UserResult<SendError> for Result<R, E> {
    fn into_reply(self) -> Result<UserReply, JudgeError> {
        self.map(Into::into).map_err(|error| JudgeError::from_source(&*error.into()))
    }
}

impl<R: Into<UserReply>> UserResult<LocalError> for Result<R, Box<dyn Error>> {
    fn into_reply(self) -> Result<UserReply, JudgeError> {
        self.map(Into::into).map_err(|error| JudgeError::from_source(&*error))
    }
}

/// The users of a suite by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Users(Vec<(String, BoundUser)>);

impl Users {
    pub(crate) fn add(&mut self, name: String, user: BoundUser) {
        self.0.push((name, user));
    }

    /// The user of this name, else one whose name differs only in `-` and `_`.
    pub(crate) fn get(&self, name: &str) -> Option<&BoundUser> {
        registered(&self.0, name)
    }

    pub(crate) fn run_on(&mut self, runtime: &AsyncRuntime) {
        self.0.iter_mut().for_each(|(_, user)| user.0.run_on(runtime));
    }
}
