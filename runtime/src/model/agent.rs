//! Agents: the trait, functions as agents, and the commands of a targets file.

use std::any::type_name;
use std::error::Error;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evalsuite_schema::TargetsFile;
use evalsuite_schema::diagnostics::Diagnostic;

use crate::model::callable::{AsyncFunction, Callable, Implements, LocalError, PlainFunction, SendError, block_on};
use crate::model::outcome::{AgentError, BoxError, Outcome};
use crate::model::suite_location::SuiteLocation;
use crate::model::trial::Trial;
use crate::platform::async_runtime::AsyncRuntime;
use crate::platform::errors::text_error;
use crate::platform::time_limit::Cancel;

/// An agent as a type, for an agent with its own data.
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
///         Ok(Outcome::new().with_text(trial.prompt().to_uppercase()).with_model(self.name))
///     }
/// }
/// ```
pub trait Agent: Send + Sync + 'static {
    /// Works on one trial.
    ///
    /// # Errors
    ///
    /// An error makes the trial an error; [`AgentError::skip`] skips it.
    fn run(&self, trial: &mut Trial<'_>) -> impl Future<Output = Result<Outcome, AgentError>>;

    /// Name in records. The default is the path of the type.
    fn name(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }
}

/// Types that can be an agent: `async fn(&mut Trial<'_>) -> Result<O, E>`, the same without `async`, or an [`Agent`].
///
/// `O` is any type that converts into an [`Outcome`], such as `String`; `E` any error. A function that is not async runs on a
/// thread that is abandoned after the time limit; it should check [`Trial::is_cancelled`] regularly.
///
/// ```
/// use evalsuite::{Evals, EvalSuite, IntoAgent, Outcome, Trial};
///
/// async fn answer(trial: &mut Trial<'_>) -> Result<Outcome, std::io::Error> {
///     let note = std::fs::read_to_string(trial.workspace().join("note.txt"))?;
///     Ok(Outcome::new().with_text(note).with_model("small"))
/// }
///
/// fn shout(trial: &mut Trial<'_>) -> Result<String, std::fmt::Error> {
///     Ok(trial.prompt().to_uppercase())
/// }
///
/// # fn example(SUITE: &'static EvalSuite, loud: bool) -> Evals {
/// // Different forms of agents have one type after `into_agent`.
/// let agent = if loud { shout.into_agent() } else { answer.into_agent() };
/// Evals::new(SUITE).with_agent(agent)
/// # }
/// ```
///
/// `Marker` distinguishes these forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    note = "an agent is `async fn(&mut Trial<'_>) -> Result<String, E>`, the same without `async`, or a type that implements `evalsuite::Agent`"
)]
pub trait IntoAgent<Marker> {
    /// The agent as [`Evals`](crate::Evals) stores it.
    fn into_agent(self) -> BoundAgent;
}

/// An agent of any form. It can be passed wherever an agent is expected.
///
/// ```
/// use evalsuite::{BoundAgent, IntoAgent, Trial};
///
/// fn echo(trial: &mut Trial<'_>) -> Result<String, std::fmt::Error> {
///     Ok(trial.prompt().to_owned())
/// }
///
/// fn shout(trial: &mut Trial<'_>) -> Result<String, std::fmt::Error> {
///     Ok(trial.prompt().to_uppercase())
/// }
///
/// let agents: [BoundAgent; 2] = [echo.into_agent(), shout.into_agent()];
/// ```
#[derive(Clone, Debug)]
pub struct BoundAgent(pub(crate) Bound);

impl BoundAgent {
    pub(crate) fn run_on(&mut self, runtime: &AsyncRuntime) {
        if let Bound::Rust(agent) = &mut self.0 {
            agent.run_on(runtime);
        }
    }
}

/// The forms of agents.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    /// Rust code.
    Rust(RustAgent),
    /// Commands of a targets file.
    #[cfg_attr(not(feature = "cli-agents"), expect(dead_code, reason = "nothing makes one without the feature"))]
    Commands(LoadTargets),
}

/// An agent in Rust.
pub(crate) type RustAgent =
    Callable<dyn Fn(&mut Trial<'_>, &Cancel) -> Result<Outcome, AgentError> + Send + Sync + 'static>;

/// Reads the targets file of a suite: the given one, a file or its directory, else the nearest one.
///
/// It is passed as a function, so that a program whose suites have agents in Rust contains no YAML reader.
pub(crate) type LoadTargets = fn(&SuiteLocation, Option<&Path>) -> Result<Targets, UnusableTarget>;

text_error! {
    /// Why a target has no agent: diagnostics as a build prints them.
    UnusableTarget
}

impl From<Diagnostic> for UnusableTarget {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(diagnostic.to_string())
    }
}

/// A targets file.
#[cfg_attr(not(feature = "cli-agents"), allow(dead_code, reason = "nothing reads one without the feature"))]
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) path: PathBuf,
    /// The entries that can be used.
    pub(crate) file: TargetsFile,
    /// The other entries, in order: name, and what is wrong.
    pub(crate) broken: Vec<(String, UnusableTarget)>,
}

impl RustAgent {
    pub(crate) fn run(&self, trial: &mut Trial<'_>, cancel: &Cancel) -> Result<Outcome, AgentError> {
        (self.function)(trial, cancel)
    }
}

#[diagnostic::do_not_recommend]
impl IntoAgent<BoundAgent> for BoundAgent {
    fn into_agent(self) -> BoundAgent {
        self
    }
}

impl<A: Agent> IntoAgent<Implements> for A {
    fn into_agent(self) -> BoundAgent {
        let name = self.name();
        let run =
            move |trial: &mut Trial<'_>, cancel: &Cancel| block_on(cancel, self.run(trial)).map_err(AgentError::new)?;
        BoundAgent(Bound::Rust(Callable::cooperative(name, Arc::new(run))))
    }
}

impl<F, R, E> IntoAgent<AsyncFunction<R, E>> for F
where
    F: AsyncFn(&mut Trial<'_>) -> R + Send + Sync + 'static,
    R: AgentResult<E>,
{
    fn into_agent(self) -> BoundAgent {
        let run = move |trial: &mut Trial<'_>, cancel: &Cancel| {
            block_on(cancel, async { self(trial).await.into_outcome() }).map_err(AgentError::new)?
        };
        BoundAgent(Bound::Rust(Callable::cooperative(type_name::<F>(), Arc::new(run))))
    }
}

impl<F, R, E> IntoAgent<PlainFunction<R, E>> for F
where
    F: Fn(&mut Trial<'_>) -> R + Send + Sync + 'static,
    R: AgentResult<E>,
{
    fn into_agent(self) -> BoundAgent {
        let run = move |trial: &mut Trial<'_>, _: &Cancel| self(trial).into_outcome();
        BoundAgent(Bound::Rust(Callable::blocking(type_name::<F>(), Arc::new(run))))
    }
}

/// Return types of agents: a `Result` of any type that converts into an [`Outcome`], with any error.
///
/// `Form` distinguishes the forms of errors and is always inferred.
#[diagnostic::on_unimplemented(
    message = "an agent cannot return `{Self}`",
    note = "an agent returns `Result<O, E>`: `O` a `String`, a `&str` or an `Outcome`; `E` any error"
)]
pub trait AgentResult<Form> {
    /// The outcome.
    ///
    /// # Errors
    ///
    /// The error of the agent.
    fn into_outcome(self) -> Result<Outcome, AgentError>;
}

impl<O: Into<Outcome>, E: Into<BoxError>> AgentResult<SendError> for Result<O, E> {
    fn into_outcome(self) -> Result<Outcome, AgentError> {
        self.map(Into::into).map_err(|error| AgentError::from_boxed(error.into()))
    }
}

impl<O: Into<Outcome>> AgentResult<LocalError> for Result<O, Box<dyn Error>> {
    fn into_outcome(self) -> Result<Outcome, AgentError> {
        self.map(Into::into).map_err(|error| AgentError::from_local(&*error))
    }
}
