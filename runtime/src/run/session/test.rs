use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write},
};

use crate::{
    model::{evals::Evals, suite::EvalCase, suite_location::program},
    platform::{digest::sha256, notice, process::echo::Echo},
    record::run_directory::RunDirectory,
    run::{
        session::{Closed, Closing, Session, State},
        settings::Settings,
    },
};

/// A test that takes part in a session. The one that is the last to end closes it, however it ends.
#[derive(Debug)]
#[must_use = "the test ends when this is dropped"]
pub(crate) struct SessionTest {
    session: Option<Session>,
    /// The test program and the module in it: what tells this inclusion of the suite from others.
    inclusion: String,
    test: String,
    closing: Closing,
    /// Whether the test runner would start it again if it fails.
    may_be_repeated: bool,
    echo: Echo,
}

impl SessionTest {
    /// Begins a test. Most suites need no session.
    ///
    /// # Errors
    ///
    /// If the suite cannot be decoded, or the run's directory cannot be written.
    pub(crate) fn begin(
        evals: &Evals,
        case: &EvalCase,
        settings: &Settings,
        run: &RunDirectory,
    ) -> Result<Self, String> {
        let suite = evals.suite();
        let data = suite.decode().map_err(|error| format!("suite `{}` cannot be decoded: {error}", suite.name))?;
        let echo = settings.echo;
        let may_be_repeated = !settings.runner.is_last_attempt();
        if !Session::is_needed(&data) {
            let (inclusion, test) = (String::new(), String::new());
            return Ok(Self { session: None, inclusion, test, closing: Closing::Later, may_be_repeated, echo });
        }
        let inclusion = format!("{} {}", program(), suite.module_path);
        let session = Session::of(suite, settings, run)
            .and_then(|session| session.join(&inclusion).map(|()| session))
            .map_err(|error| format!("{} cannot be written: {error}", run.path().display()))?;
        let closing = Closing::of(suite, settings);
        Ok(Self { session: Some(session), inclusion, test: suite.test_path(case), closing, may_be_repeated, echo })
    }

    /// Ends the test; what went wrong at the end of the session is returned.
    pub(crate) fn end(mut self, passed: bool) -> Vec<String> {
        self.finish(passed)
    }

    fn finish(&mut self, passed: bool) -> Vec<String> {
        let Some(session) = self.session.take() else { return Vec::new() };
        // A test that is started again is not done.
        if !passed && self.may_be_repeated {
            return Vec::new();
        }
        match session.finished(&self.inclusion, &self.test, &self.closing, self.echo) {
            Ok(closed) => closed.problems,
            Err(error) => vec![format!("suite `{}` cannot be ended: {error}", session.suite)],
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
    /// Takes note that tests of an inclusion have begun, so that the last test of another one leaves the end to them.
    fn join(&self, inclusion: &str) -> io::Result<()> {
        let _lock = self.lock()?;
        let mut state = State::read(&self.file())?.unwrap_or_else(|| State::new(&self.suite, &self.label));
        if state.inclusions.insert(inclusion.to_owned(), false) == Some(false) {
            return Ok(());
        }
        state.write(&self.file())
    }

    /// Notes that a test is done, and ends the session if it was the last one.
    fn finished(&self, inclusion: &str, test: &str, closing: &Closing, echo: Echo) -> io::Result<Closed> {
        if *closing == Closing::Later {
            return Ok(Closed::default());
        }
        let _lock = self.lock()?;
        let mut state = State::read(&self.file())?.unwrap_or_else(|| State::new(&self.suite, &self.label));
        let digest = &sha256(inclusion)[..8];
        let path = self.suite_directory().join(format!("finished{}.{digest}.{}", self.label, state.ended + 1));
        fs::create_dir_all(self.suite_directory())?;
        let mut file = File::options().create(true).append(true).open(&path)?;
        file.write_all(format!("{test}\n").as_bytes())?;
        let text = fs::read_to_string(&path)?;
        let finished: BTreeSet<String> = text.lines().map(str::to_owned).collect();
        if !closing.is_complete(&finished) {
            return Ok(Closed::default());
        }
        state.inclusions.insert(inclusion.to_owned(), true);
        state.write(&self.file())?;
        if state.inclusions.values().all(|done| *done) { self.close_locked(echo) } else { Ok(Closed::default()) }
    }
}
