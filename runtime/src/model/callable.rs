//! A common form for agents, graders and judges of users: a call that blocks its thread.
//!
//! Users write a type that implements a trait, an `async fn` or a plain `fn`. `IntoAgent`, `IntoGrader` and `IntoJudge` turn
//! each of them into a [`Callable`].

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use crate::platform::async_runtime::{AsyncRuntime, TaskCount};
use crate::platform::time_limit::{Cancel, Ended, call_within};

/// The code of a user behind a function type `F`.
pub(crate) struct Callable<F: ?Sized> {
    /// Name in records.
    pub(crate) name: String,
    /// Whether the call ends by itself after it was cancelled.
    pub(crate) is_cooperative: bool,
    runtime: AsyncRuntime,
    pub(crate) function: Arc<F>,
}

impl<F: ?Sized + Send + Sync + 'static> Callable<F> {
    /// A call that ends by itself after it was cancelled, as [`block_on`] does.
    pub(crate) fn cooperative(name: impl Into<String>, function: Arc<F>) -> Self {
        Self { name: name.into(), is_cooperative: true, runtime: AsyncRuntime::default(), function }
    }

    /// A call whose thread is abandoned after it was cancelled.
    pub(crate) fn blocking(name: impl Into<String>, function: Arc<F>) -> Self {
        Self { name: name.into(), is_cooperative: false, runtime: AsyncRuntime::default(), function }
    }

    /// Sets the runtime of async code.
    pub(crate) fn run_on(&mut self, runtime: &AsyncRuntime) {
        self.runtime = runtime.clone();
    }

    /// Counts the tasks that a call of this code leaves behind; `None` if it is not async.
    pub(crate) fn count_tasks(&self) -> Option<TaskCount> {
        self.is_cooperative.then(|| TaskCount::begin(&self.runtime))
    }

    /// Whether this code runs, or may run, tasks on a runtime that is not the one of evalsuite.
    pub(crate) fn is_on_other_runtime(&self) -> bool {
        !self.is_cooperative || self.runtime.is_of_program()
    }

    /// Cancels a call of this code.
    pub(crate) fn new_cancel(&self) -> Cancel {
        Cancel::on(&self.runtime)
    }

    /// Calls this code on a thread of its own and waits at most `limit`.
    pub(crate) fn call_within<T: Send + 'static>(
        &self,
        limit: Duration,
        call: impl FnOnce(&F, &Cancel) -> T + Send + 'static,
    ) -> io::Result<Ended<T>> {
        let (function, cancel) = (Arc::clone(&self.function), self.new_cancel());
        let inner = cancel.clone();
        call_within(limit, &cancel, self.is_cooperative, || (), move || call(&function, &inner))
    }
}

#[cfg(feature = "users")]
impl<F: ?Sized> Callable<F> {
    /// Other code of the same kind, which runs where this one does.
    pub(crate) fn with_function<G: ?Sized>(&self, function: Arc<G>) -> Callable<G> {
        Callable {
            name: self.name.clone(),
            is_cooperative: self.is_cooperative,
            runtime: self.runtime.clone(),
            function,
        }
    }
}

impl<F: ?Sized> Clone for Callable<F> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            is_cooperative: self.is_cooperative,
            runtime: self.runtime.clone(),
            function: Arc::clone(&self.function),
        }
    }
}

impl<F: ?Sized> fmt::Debug for Callable<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The code that is registered under this name, else under one that differs only in `-` and `_`.
pub(crate) fn registered<'c, C>(all: &'c [(String, C)], name: &str) -> Option<&'c C> {
    let fold = |name: &str| name.replace('-', "_");
    let exact = all.iter().find(|(registered, _)| registered == name);
    exact.or_else(|| all.iter().find(|(registered, _)| fold(registered) == fold(name))).map(|(_, code)| code)
}

/// Runs a future of user code until it is done or cancelled; the error says why it did not finish.
pub(crate) fn block_on<T>(cancel: &Cancel, future: impl Future<Output = T>) -> Result<T, String> {
    let finished = cancel.block_on(future).map_err(|error| format!("there is no async runtime: {error}"))?;
    finished.ok_or_else(|| "cancelled".to_owned())
}

/// Marks types that implement `Agent`, `Grader` or `Judge`.
#[derive(Debug)]
pub struct Implements;

/// Marks async functions.
#[derive(Debug)]
pub struct AsyncFunction<R, E = ()>(PhantomData<fn() -> (R, E)>);

/// Marks functions that are not async.
#[derive(Debug)]
pub struct PlainFunction<R, E = ()>(PhantomData<fn() -> (R, E)>);

/// Marks errors that can be sent to other threads.
#[derive(Debug)]
pub struct SendError;

/// Marks `Box<dyn Error>`.
#[derive(Debug)]
pub struct LocalError;
