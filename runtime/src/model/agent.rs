use std::{
    error::Error,
    fmt,
    future::Future,
    marker::PhantomData,
    path::{Path, PathBuf},
    sync::Arc,
};

use evalsuite_schema::{TargetsFile, diagnostic::Diagnostic};

use crate::{
    model::{
        outcome::{AgentError, BoxError, Outcome},
        suite_location::SuiteLocation,
        trial::Trial,
    },
    platform::cancel::Cancel,
};

/// An agent as a type, where a function is not enough.
///
/// Functions are agents without this trait, see [`IntoAgent`].
///
/// ```
/// use evalsuite::{Agent, AgentError, Outcome, Trial};
///
/// struct Model { name: &'static str }
///
/// impl Agent for Model {
///     async fn run(&self, trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
///         Ok(Outcome::new().text(trial.prompt().to_uppercase()).model(self.name))
///     }
/// }
/// ```
pub trait Agent: Send + Sync + 'static {
    /// Works on one trial.
    ///
    /// # Errors
    ///
    /// Whatever keeps the agent from an outcome; [`AgentError::skip`] asks to skip the trial.
    fn run(&self, trial: &mut Trial<'_>) -> impl Future<Output = Result<Outcome, AgentError>>;

    /// Name in records; the type's path if not given.
    fn name(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }
}

/// What can be an agent: `async fn(&mut Trial<'_>) -> Result<O, E>`, the same without `async`, or an [`Agent`].
///
/// `O` is anything that becomes an [`Outcome`], such as a `String`; `E` any error. A function without `async` runs on a
/// thread that is abandoned when its time is up, so it should look at [`Trial::is_cancelled`] now and then.
///
/// `Marker` tells these forms apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    note = "an agent is `async fn(&mut Trial<'_>) -> Result<String, E>`, the same without `async`, or a type that implements `evalsuite::Agent`"
)]
pub trait IntoAgent<Marker> {
    /// The agent in the form the suite keeps.
    fn into_agent(self) -> BoundAgent;
}

/// An agent bound to a suite.
#[derive(Clone)]
pub struct BoundAgent(pub(crate) Bound);

/// What is bound.
#[derive(Clone)]
pub(crate) enum Bound {
    /// Something in Rust.
    Rust(Arc<dyn Run>),
    /// Commands of a targets file.
    #[cfg_attr(not(feature = "cli-agents"), expect(dead_code, reason = "nothing makes one without the feature"))]
    Commands(LoadTargets),
}

impl BoundAgent {
    fn rust(agent: impl Run + 'static) -> Self {
        Self(Bound::Rust(Arc::new(agent)))
    }

    #[cfg(feature = "cli-agents")]
    pub(crate) fn commands(load: LoadTargets) -> Self {
        Self(Bound::Commands(load))
    }
}

impl std::fmt::Debug for BoundAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match &self.0 {
            Bound::Rust(agent) => agent.name(),
            Bound::Commands(_) => "cli".to_owned(),
        };
        f.debug_tuple("BoundAgent").field(&name).finish()
    }
}

/// Reads the targets file of a suite: the one that is named, a file or its directory, else the nearest one.
///
/// It is handed around as a function, so that a program whose suites have agents in Rust has no reader of YAML in it.
pub(crate) type LoadTargets = fn(&SuiteLocation, Option<&Path>) -> Result<Targets, UnusableTarget>;

/// Why a target has no agent: diagnostics as a build prints them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnusableTarget(pub(crate) String);

impl fmt::Display for UnusableTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Diagnostic> for UnusableTarget {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(diagnostic.to_string())
    }
}

/// A targets file without mistakes.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) path: PathBuf,
    pub(crate) file: TargetsFile,
}

/// What is left of an agent once its form does not matter: a call that blocks its thread.
pub(crate) trait Run: Send + Sync {
    fn run(&self, trial: &mut Trial<'_>, cancel: &Cancel) -> Result<Outcome, AgentError>;

    /// Whether a cancelled call ends by itself.
    fn is_cooperative(&self) -> bool;

    fn name(&self) -> String;
}

fn finish(result: std::io::Result<Option<Result<Outcome, AgentError>>>) -> Result<Outcome, AgentError> {
    match result {
        Ok(Some(result)) => result,
        Ok(None) => Err(AgentError::new("cancelled")),
        Err(error) => Err(AgentError::new(format!("cannot start an async runtime: {error}"))),
    }
}

/// Marks types that implement [`Agent`].
#[derive(Debug)]
pub struct TypeAgent;

impl<A: Agent> IntoAgent<TypeAgent> for A {
    fn into_agent(self) -> BoundAgent {
        struct Typed<A>(A);

        impl<A: Agent> Run for Typed<A> {
            fn run(&self, trial: &mut Trial<'_>, cancel: &Cancel) -> Result<Outcome, AgentError> {
                finish(cancel.block_on(self.0.run(trial)))
            }

            fn is_cooperative(&self) -> bool {
                true
            }

            fn name(&self) -> String {
                self.0.name()
            }
        }

        BoundAgent::rust(Typed(self))
    }
}

/// A function, and which of the forms it has.
struct Function<F, M>(F, PhantomData<fn() -> M>);

/// Marks async functions that return `R`.
#[derive(Debug)]
pub struct AsyncAgent<R, E>(PhantomData<fn() -> (R, E)>);

impl<F, R, E> IntoAgent<AsyncAgent<R, E>> for F
where
    F: AsyncFn(&mut Trial<'_>) -> R + Send + Sync + 'static,
    R: AgentResult<E> + 'static,
    E: 'static,
{
    fn into_agent(self) -> BoundAgent {
        BoundAgent::rust(Function::<F, AsyncAgent<R, E>>(self, PhantomData))
    }
}

impl<F, R, E> Run for Function<F, AsyncAgent<R, E>>
where
    F: AsyncFn(&mut Trial<'_>) -> R + Send + Sync,
    R: AgentResult<E>,
{
    fn run(&self, trial: &mut Trial<'_>, cancel: &Cancel) -> Result<Outcome, AgentError> {
        finish(cancel.block_on(async { (self.0)(trial).await.into_outcome() }))
    }

    fn is_cooperative(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        std::any::type_name::<F>().to_owned()
    }
}

/// Marks plain functions that return `R`.
#[derive(Debug)]
pub struct PlainAgent<R, E>(PhantomData<fn() -> (R, E)>);

impl<F, R, E> IntoAgent<PlainAgent<R, E>> for F
where
    F: Fn(&mut Trial<'_>) -> R + Send + Sync + 'static,
    R: AgentResult<E> + 'static,
    E: 'static,
{
    fn into_agent(self) -> BoundAgent {
        BoundAgent::rust(Function::<F, PlainAgent<R, E>>(self, PhantomData))
    }
}

impl<F, R, E> Run for Function<F, PlainAgent<R, E>>
where
    F: Fn(&mut Trial<'_>) -> R + Send + Sync,
    R: AgentResult<E>,
{
    fn run(&self, trial: &mut Trial<'_>, _cancel: &Cancel) -> Result<Outcome, AgentError> {
        (self.0)(trial).into_outcome()
    }

    fn is_cooperative(&self) -> bool {
        false
    }

    fn name(&self) -> String {
        std::any::type_name::<F>().to_owned()
    }
}

/// What an agent function may return: `Result` of anything that becomes an [`Outcome`], with any error.
///
/// `Form` tells the forms of errors apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "an agent cannot return `{Self}`",
    note = "an agent returns `Result<O, E>`: `O` a `String`, a `&str` or an `Outcome`; `E` any error"
)]
pub trait AgentResult<Form> {
    /// The outcome, or why there is none.
    ///
    /// # Errors
    ///
    /// The agent's.
    fn into_outcome(self) -> Result<Outcome, AgentError>;
}

/// Marks errors that can be sent to other threads.
#[derive(Debug)]
pub struct SendError;

impl<O: Into<Outcome>, E: Into<BoxError>> AgentResult<SendError> for Result<O, E> {
    fn into_outcome(self) -> Result<Outcome, AgentError> {
        self.map(Into::into).map_err(|error| AgentError::from_boxed(error.into()))
    }
}

/// Marks `Box<dyn Error>`.
#[derive(Debug)]
pub struct LocalError;

impl<O: Into<Outcome>> AgentResult<LocalError> for Result<O, Box<dyn Error>> {
    fn into_outcome(self) -> Result<Outcome, AgentError> {
        self.map(Into::into).map_err(|error| AgentError::from_local(&*error))
    }
}
