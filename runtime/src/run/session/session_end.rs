//! The end of a session: the hooks after all tests, then the bases are removed.

use std::collections::BTreeSet;
use std::{fs, io};

use evalsuite_records::record::HookState;

use crate::model::suite::EvalSuite;
use crate::platform::file_lock::FileLock;
use crate::platform::process::echo::Echo;
use crate::platform::redaction::Redactor;
use crate::run::hooks::Scope;
use crate::run::session::Session;
use crate::run::session::test_filter::TestFilter;
use crate::run::settings::Settings;
use crate::workspace;

/// The tests after which, with those of all other inclusions of the suite, the session ends that a test runner started, by their names in
/// the test runner; `None`: when the caller of the tests, or `cargo evalsuite finish`, ends it.
pub(crate) fn awaited_tests(suite: &EvalSuite, settings: &Settings) -> Option<BTreeSet<String>> {
    // Further tests may join a run whose id is set by the user.
    if settings.run_id.is_some() {
        return None;
    }
    let all = suite.cases.iter().map(|case| suite.test_path(case));
    // Nextest starts a process per test, which does not know which other tests are selected.
    if std::env::var_os("NEXTEST").is_some() || settings.is_nextest() {
        return Some(all.collect());
    }
    let filter = TestFilter::of_process();
    Some(all.filter(|test| filter.contains(test)).collect())
}

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
        // The hooks of targets run inside those of the suite.
        state.pending.sort_by_key(|call| call.scope != Scope::Target);
        for call in std::mem::take(&mut state.pending) {
            let (_, result) = call.resolve_and_run(&Redactor::default(), echo);
            ended.hooks += 1;
            state.after_all = match &result {
                Ok(()) if state.after_all != HookState::Failed => HookState::Done,
                _ => HookState::Failed,
            };
            if let Err(failure) = result {
                ended.problems.push(format!("suite `{}`: {}", self.name, failure.message));
            }
        }
        state.end();
        self.write(&state)?;
        if !state.keep {
            let base = self.base();
            if let Err(error) = workspace::remove_directory(&base) {
                ended.problems.push(format!("{} cannot be removed: {error}", base.display()));
            }
            if let Some(directory) = base.parent() {
                // It fails while other sessions of the suite have bases in it.
                let _ = fs::remove_dir(directory);
            }
        }
        Ok(ended)
    }
}
