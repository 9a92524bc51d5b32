//! A test as part of the session of its suite, and which other tests its process runs.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::model::evals::Evals;
use crate::model::suite::{EvalCase, EvalSuite};
use crate::model::suite_location::program;
use crate::platform::digest::sha256;
use crate::platform::files::read_text;
use crate::platform::notice;
use crate::platform::process::Echo;
use crate::platform::untrusted::UntrustedDirectory;
use crate::record::run_directory::RunDirectory;
use crate::run::case_report::{CaseError, decode_suite};
use crate::run::session::{EndedSession, Session};
use crate::run::settings::Settings;
use crate::run::test_filter::TestFilter;

/// A test in the session of its suite. The last test ends the session, whatever its outcome.
#[derive(Debug)]
#[must_use = "the test ends when this is dropped"]
pub(crate) struct SessionTest {
    session: Option<Session>,
    /// The test program and the module in it, which identify this inclusion of the suite.
    inclusion: String,
    test: String,
    /// The tests after which the session ends; `None`: later.
    awaited: Option<BTreeSet<String>>,
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
        let data = decode_suite(suite)?;
        let mut test = Self {
            session: Session::is_needed(&data).then(|| Session::of(suite, settings, run)),
            inclusion: format!("{} {}", program(), suite.module_path),
            test: suite.test_path(case),
            awaited: None,
            may_be_repeated: !settings.runner.is_last_attempt(),
            announces_pending: false,
            echo: settings.echo,
        };
        if let Some(session) = &test.session {
            session
                .join(&test.inclusion)
                .map_err(|error| CaseError::unwritable(&format!("suite `{}`", suite.name), run.path(), error))?;
            test.awaited = awaited_tests(suite, settings);
            // Whoever follows the progress, as `cargo evalsuite run` does, ends the run. One process knows its last test.
            test.announces_pending =
                settings.progress_file.is_none() && (settings.is_nextest() || test.awaited.is_none());
        }
        Ok(test)
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
        match session.finished(&self.inclusion, &self.test, self.awaited.as_ref(), self.echo) {
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
        self.finish(false).iter().for_each(|problem| notice::say(problem));
    }
}

impl Session {
    /// Says once per run that hooks are pending, and the command that runs them.
    fn announce_pending(&self) {
        if self.run.mark(&format!("after-all-announced-{}", self.key())) {
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
        let mut state = self.state()?;
        match state.inclusions.insert(inclusion.to_owned(), false) {
            Some(false) => Ok(()),
            _ => self.store(&state),
        }
    }

    /// Records that a test is done, and ends the session if it was the last one.
    fn finished(
        &self,
        inclusion: &str,
        test: &str,
        awaited: Option<&BTreeSet<String>>,
        echo: Echo,
    ) -> io::Result<EndedSession> {
        let _lock = self.lock()?;
        let mut state = self.state()?;
        let not_yet = EndedSession { is_pending: !state.pending.is_empty(), ..EndedSession::default() };
        let Some(awaited) = awaited else { return Ok(not_yet) };
        let digest = &sha256(inclusion)[..8];
        let path = self.suite_directory().join(format!("finished{}.{digest}.{}", self.label, state.ended + 1));
        let name = path.file_name().unwrap_or_default();
        let mut file = UntrustedDirectory::new(self.suite_directory()).open_shared(name, true)?;
        file.write_all(format!("{test}\n").as_bytes())?;
        let text = read_text(&path)?.unwrap_or_default();
        let finished: BTreeSet<String> = text.lines().map(str::to_owned).collect();
        if !awaited.is_subset(&finished) {
            return Ok(not_yet);
        }
        state.inclusions.insert(inclusion.to_owned(), true);
        self.store(&state)?;
        if state.inclusions.values().all(|done| *done) { self.end_locked(echo) } else { Ok(EndedSession::default()) }
    }
}

/// The tests after which, with those of all other inclusions of the suite, the session ends that a test runner started, by their names in
/// the test runner; `None`: when the caller of the tests, or `cargo evalsuite finish`, ends it.
fn awaited_tests(suite: &EvalSuite, settings: &Settings) -> Option<BTreeSet<String>> {
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
