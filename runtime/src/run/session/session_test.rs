//! A test as part of the session of its suite.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::io::Write;

use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::model::suite_location::program;
use crate::platform::digest::sha256;
use crate::platform::files::read_text;
use crate::platform::notice;
use crate::platform::process::echo::Echo;
use crate::platform::untrusted::UntrustedDirectory;
use crate::record::run_directory::RunDirectory;
use crate::run::case_error::CaseError;
use crate::run::session::Session;
use crate::run::session::session_end::{EndedSession, SessionEnd};
use crate::run::session::session_state::SessionState;
use crate::run::settings::Settings;

/// A test in the session of its suite. The last test ends the session, whatever its outcome.
#[derive(Debug)]
#[must_use = "the test ends when this is dropped"]
pub(crate) struct SessionTest {
    session: Option<Session>,
    /// The test program and the module in it, which identify this inclusion of the suite.
    inclusion: String,
    test: String,
    session_end: SessionEnd,
    /// Whether the test runner repeats it if it fails.
    may_be_repeated: bool,
    /// Whether no other test runs the pending hooks, unless further tests do.
    announces_pending: bool,
    echo: Echo,
}

impl SessionTest {
    /// Begins a test. Most suites need no session.
    pub(crate) fn begin(
        evals: &Evals,
        case: &EvalCase,
        settings: &Settings,
        run: &RunDirectory,
    ) -> Result<Self, CaseError> {
        let suite = evals.suite();
        let data = suite.data().map_err(|source| CaseError::undecodable_suite(suite, source))?;
        let echo = settings.echo;
        let may_be_repeated = !settings.runner.is_last_attempt();
        if !Session::is_needed(&data) {
            let (inclusion, test) = (String::new(), String::new());
            let (session, session_end, announces_pending) = (None, SessionEnd::Later, false);
            return Ok(Self { session, inclusion, test, session_end, may_be_repeated, announces_pending, echo });
        }
        let inclusion = format!("{} {}", program(), suite.module_path);
        let session = Session::of(suite, settings, run);
        session.join(&inclusion).map_err(|source| CaseError::Records {
            owner: format!("suite `{}`", suite.name),
            directory: run.path().to_owned(),
            source,
        })?;
        let session_end = SessionEnd::of(suite, settings);
        // Whoever follows the progress, as `cargo evalsuite run` does, ends the run. One process knows its last test.
        let announces_pending =
            settings.progress_file.is_none() && (settings.is_nextest() || session_end == SessionEnd::Later);
        let (session, test) = (Some(session), suite.test_path(case));
        Ok(Self { session, inclusion, test, session_end, may_be_repeated, announces_pending, echo })
    }

    /// Ends the test; returns the problems at the end of the session.
    pub(crate) fn end(mut self, passed: bool) -> Vec<String> {
        self.finish(passed)
    }

    fn finish(&mut self, passed: bool) -> Vec<String> {
        let Some(session) = self.session.take() else { return Vec::new() };
        // A test that is repeated is not done.
        if !passed && self.may_be_repeated {
            return Vec::new();
        }
        match session.finished(&self.inclusion, &self.test, &self.session_end, self.echo) {
            Ok(ended) => {
                if ended.is_pending && passed && self.announces_pending {
                    session.announce_pending();
                }
                ended.problems
            }
            Err(error) => vec![format!("suite `{}` cannot be ended: {error}", session.name)],
        }
    }
}

impl Drop for SessionTest {
    fn drop(&mut self) {
        for problem in self.finish(false) {
            notice::say(&problem);
        }
    }
}

impl Session {
    /// Says once per run that hooks are pending, and the command that runs them.
    fn announce_pending(&self) {
        // If the file cannot be made, another test has said it.
        if File::create_new(self.run.locks().join(format!("after-all-announced-{}", self.key()))).is_ok() {
            notice::say_on_terminal_too(&format!(
                "`after_all` of suite {} is pending until the last of its tests has run; after a part of them, \
                 `cargo evalsuite finish {}` runs it",
                self.name, self.run.run_id
            ));
        }
    }

    /// Records that tests of an inclusion have begun, so that the last test of another inclusion does not end the session.
    fn join(&self, inclusion: &str) -> io::Result<()> {
        let _lock = self.lock()?;
        let mut state = SessionState::read(&self.file())?.unwrap_or_else(|| SessionState::new(&self.name, &self.label));
        if state.inclusions.insert(inclusion.to_owned(), false) == Some(false) {
            return Ok(());
        }
        state.write(&self.file())
    }

    /// Records that a test is done, and ends the session if it was the last one.
    fn finished(&self, inclusion: &str, test: &str, session_end: &SessionEnd, echo: Echo) -> io::Result<EndedSession> {
        let _lock = self.lock()?;
        let mut state = SessionState::read(&self.file())?.unwrap_or_else(|| SessionState::new(&self.name, &self.label));
        if *session_end == SessionEnd::Later {
            return Ok(EndedSession { is_pending: !state.pending.is_empty(), ..EndedSession::default() });
        }
        let digest = &sha256(inclusion)[..8];
        let path = self.suite_directory().join(format!("finished{}.{digest}.{}", self.label, state.ended + 1));
        let name = path.file_name().unwrap_or_default();
        let mut file = UntrustedDirectory::new(self.suite_directory()).open_shared(name, true)?;
        file.write_all(format!("{test}\n").as_bytes())?;
        let text = read_text(&path)?.unwrap_or_default();
        let finished: BTreeSet<String> = text.lines().map(str::to_owned).collect();
        if !session_end.is_complete(&finished) {
            return Ok(EndedSession { is_pending: !state.pending.is_empty(), ..EndedSession::default() });
        }
        state.inclusions.insert(inclusion.to_owned(), true);
        state.write(&self.file())?;
        if state.inclusions.values().all(|done| *done) { self.end_locked(echo) } else { Ok(EndedSession::default()) }
    }
}
