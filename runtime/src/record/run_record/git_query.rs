//! The call of git that a run makes once, in parallel with its first case.

use std::io;
use std::thread::{Builder, JoinHandle};

use crate::platform::notice;
use crate::record::run_record::{SuiteOfRun, surroundings, update_run};

/// Git is asked for the state of the repository, which is added to `run.json`. Dropping this waits for that.
#[must_use = "dropping it waits for git"]
pub(crate) struct GitQuery(Option<JoinHandle<io::Result<()>>>);

impl GitQuery {
    pub(super) fn start(suite: &SuiteOfRun<'_>) -> Self {
        let (run, redactor, echo) = (suite.run.clone(), suite.redactor.clone(), suite.echo);
        let package = suite.location.package_root.clone();
        let ask = move || match surroundings::git(&package, echo) {
            Some(state) => update_run(&run, &redactor, |record| record.git = Some(state)),
            None => Ok(()),
        };
        Self(Builder::new().spawn(ask).map_err(|error| report(&error)).ok())
    }
}

impl Drop for GitQuery {
    fn drop(&mut self) {
        // The panic hook has reported a panic.
        if let Some(Ok(Err(error))) = self.0.take().map(JoinHandle::join) {
            report(&error);
        }
    }
}

fn report(error: &io::Error) {
    notice::say(&format!("the state of the repository is not recorded: {error}"));
}
