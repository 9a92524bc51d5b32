//! Simulated users as functions: their form, their requests and replies.

use std::any::type_name;
use std::error::Error;
use std::sync::Arc;

use evalsuite_records::record::Usage;
use evalsuite_schema::json::json;
use evalsuite_schema::{Message, Object, Role, SimulatedUser};

use crate::model::callable::{AsyncFunction, Callable, LocalError, PlainFunction, SendError, block_on, registered};
use crate::model::judge::{BoundJudge, JudgeError, JudgeReply, JudgeRequest};
use crate::model::messages::content_text;
use crate::model::outcome::BoxError;
use crate::platform::accessors::{getters, setters};
use crate::platform::async_runtime::AsyncRuntime;
use crate::platform::time_limit::Cancel;

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

/// What a simulated user says next, or that it is done.
///
/// A text is enough: `String` and `&str` convert into a reply.
///
/// ```
/// use evalsuite::UserReply;
///
/// let reply = UserReply::new("Where is my refund?").with_cost_usd(0.0002);
/// assert_eq!((reply.message(), reply.is_done()), ("Where is my refund?", false));
/// assert!(UserReply::done().is_done());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct UserReply {
    message: String,
    is_done: bool,
    usage: Option<Usage>,
    cost_usd: Option<f64>,
    model: Option<String>,
}

impl UserReply {
    /// The user says this. It must not be blank.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// The conversation ends: the user has what it wants, or has given up.
    pub fn done() -> Self {
        Self { is_done: true, ..Self::default() }
    }

    /// The reply in the form in which a model writes it, and in which it is recorded.
    pub(crate) fn into_judge_reply(self) -> JudgeReply {
        let Self { message, is_done, usage, cost_usd, model } = self;
        let text = json!({"message": message, "done": is_done}).to_string();
        JudgeReply { text, usage, cost_usd, model, is_cut_off: false }
    }
}

setters! {
    impl UserReply {
        /// Sets the tokens used.
        pub fn with_usage(usage: Usage) { usage = Some(usage) }

        /// Sets the cost in US dollars, at least 0.
        pub fn with_cost_usd(cost: f64) { cost_usd = Some(cost) }

        /// Sets the name of the model that wrote it.
        pub fn with_model(model: impl Into<String>) { model = Some(model.into()) }
    }
}

getters! {
    impl UserReply {
        /// What the user says.
        pub fn message(self) -> &str { &self.message }

        /// Whether the conversation ends.
        pub fn is_done(self) -> bool { self.is_done }
    }
}

impl From<String> for UserReply {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for UserReply {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

/// What a simulated user that is a function gets: its role, and the conversation so far.
///
/// ```
/// use evalsuite::{UserReply, UserRequest};
///
/// fn customer(request: UserRequest) -> Result<UserReply, std::fmt::Error> {
///     let patience = request.config().get("patience").and_then(|value| value.as_u64()).unwrap_or(3);
///     Ok(match u64::from(request.turn()) {
///         turn if turn > patience => UserReply::done(),
///         1 => UserReply::new(request.goal().unwrap_or("Hello?")),
///         _ => UserReply::new(format!("You said {:?}. And now?", request.answer())),
///     })
/// }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct UserRequest {
    pub(crate) user: Arc<SimulatedUser>,
    pub(crate) messages: Arc<[Message]>,
    /// Number of the turn of the user, from 1.
    pub(crate) turn: u32,
    pub(crate) case_id: String,
    pub(crate) trial: u32,
}

getters! {
    impl UserRequest {
        /// Who the user is, if the case says so.
        pub fn persona(self) -> Option<&str> { self.user.persona.as_deref() }

        /// What the user wants, if the case says so.
        pub fn goal(self) -> Option<&str> { self.user.goal.as_deref() }

        /// What ends the conversation besides the goal, if the case says so.
        pub fn stops_when(self) -> Option<&str> { self.user.stops_when.as_deref() }

        /// Most turns that the user writes.
        pub fn max_turns(self) -> u32 { self.user.max_turns }

        /// The `config` of the user in the case.
        pub fn config(self) -> &Object { &self.user.config }

        /// What the user and the agent said so far, in order; without what only the agent is told.
        pub fn messages(self) -> &[Message] { &self.messages }

        /// Number of the turn that the user writes now, from 1.
        pub fn turn(self) -> u32 { self.turn }

        /// Id of the case.
        pub fn case_id(self) -> &str { &self.case_id }

        /// Index of the trial, from 0.
        pub fn trial(self) -> u32 { self.trial }
    }
}

impl UserRequest {
    /// What the agent said last; empty if it has not said anything yet.
    pub fn answer(&self) -> String {
        let last = self.messages.iter().rev().find(|message| message.role == Role::Assistant);
        last.and_then(|message| message.content.as_ref()).map(content_text).unwrap_or_default()
    }
}
