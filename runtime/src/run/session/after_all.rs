//! The end of a session: its pending hooks run, and what was made once for all of its tests is removed.

use std::{fs, io};

use evalsuite_records::record::Reason;

use crate::model::suite::EvalSuite;
use crate::platform::file_lock::FileLock;
use crate::platform::process::Echo;
use crate::record::run_directory::RunDirectory;
use crate::run::session::{Session, after_hook};
use crate::run::settings::Settings;
use crate::workspace;

/// What happened at the end of a session.
#[derive(Debug, Default)]
pub(crate) struct EndedSession {
    /// Number of hooks that ran.
    pub(crate) hooks: u32,
    /// Whether hooks are left to run, because further tests may follow.
    pub(crate) is_pending: bool,
    /// Errors of hooks and files.
    pub(crate) problems: Vec<String>,
}

impl Session {
    /// Ends the session of a suite that no test runner runs; returns the problems.
    pub(crate) fn end_of(suite: &EvalSuite, settings: &Settings, run: &RunDirectory) -> Vec<String> {
        // Every case has reported a suite that cannot be decoded.
        if !suite.data().is_ok_and(|data| Self::is_needed(&data)) {
            return Vec::new();
        }
        match Self::of(suite, settings, run).end(settings.echo) {
            Ok(ended) => ended.problems,
            Err(error) => vec![format!("suite `{}` cannot be ended: {error}", suite.name)],
        }
    }

    /// Runs the pending hooks after all tests and removes the bases. Does nothing if the session has ended before.
    pub(crate) fn end(&self, echo: Echo) -> io::Result<EndedSession> {
        let _lock = self.lock()?;
        self.end_locked(echo)
    }

    pub(crate) fn end_locked(&self, echo: Echo) -> io::Result<EndedSession> {
        let mut ended = EndedSession::default();
        let mut state = self.state()?;
        if !state.open {
            return Ok(ended);
        }
        let Some(_unused) = FileLock::try_acquire(&self.in_use())? else {
            ended.problems.push(format!("tests of suite `{}` are still running", self.name));
            return Ok(ended);
        };
        let mut hooks: Vec<Result<(), Reason>> = Vec::new();
        crate::run::hooks::run_pending(&mut hooks, &mut state.pending, echo);
        for result in hooks {
            ended.hooks += 1;
            state.after_all = after_hook(state.after_all, result.is_ok());
            ended.problems.extend(result.err().map(|failure| format!("suite `{}`: {}", self.name, failure.message)));
        }
        // The next test begins it again.
        (state.open, state.ended) = (false, state.ended + 1);
        state.inclusions.clear();
        self.write(&state)?;
        if !state.keep {
            let base = self.base();
            let removed = workspace::remove_directory(&base);
            ended.problems.extend(removed.err().map(|error| format!("{} cannot be removed: {error}", base.display())));
            if let Some(directory) = base.parent() {
                // It fails while other sessions of the suite have bases in it.
                let _ = fs::remove_dir(directory);
            }
        }
        Ok(ended)
    }
}
