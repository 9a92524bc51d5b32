//! The notice of skipped tests, which test runners count as passed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use evalsuite_records::record::{Reason, ReasonCode};

use crate::model::suite::EvalSuite;
use crate::platform::{environment, notice, terminal};
use crate::record::run_directory::RunDirectory;
use crate::run::settings::Settings;

/// Where a test was skipped.
pub(crate) struct SkippedTest<'a> {
    pub(crate) suite: &'a EvalSuite,
    /// What was skipped.
    pub(crate) name: &'a str,
    pub(crate) reason: &'a Reason,
}

impl SkippedTest<'_> {
    /// Shows that the test was skipped, and once per process what to do about it.
    pub(crate) fn show(&self, settings: &Settings, run: &RunDirectory) {
        let Self { name, reason, .. } = self;
        notice::say(&format!("SKIPPED {name}: {}", reason.message));
        if let Some(help) = &reason.help {
            say_once(&format!("help: {help}"));
        }
        if reason.code == ReasonCode::Filtered {
            return;
        }
        if is_ci() {
            say_once("warning: skipped cases count as passed; EVALSUITE_REQUIRE=1 turns them into errors");
        }
        self.show_on_terminal(settings, run);
    }

    /// One line per suite and run, where the test runner captures the output of tests that pass.
    fn show_on_terminal(&self, settings: &Settings, run: &RunDirectory) {
        let is_captured = settings.is_nextest() && settings.progress_file.is_none() && !io::stderr().is_terminal();
        let mark = run.locks().join(format!("skips-shown-{}", self.suite.key()));
        // If the file cannot be made, another test has shown the line.
        if is_captured && File::create_new(mark).is_ok() {
            let Self { suite, name, reason } = self;
            let help = format!("`cargo evalsuite finish {}` lists all that were skipped", run.run_id);
            terminal::say(&format!("suite {} has skipped tests: {name}: {}; {help}", suite.name, reason.message));
        }
    }
}

/// Whether the process runs on a CI server.
fn is_ci() -> bool {
    environment::var("CI").is_some_and(|value| !["", "0", "false"].contains(&value.as_str()))
}

/// Prints a line unless this process has printed it before.
fn say_once(line: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line.to_owned()) {
        notice::say(line);
    }
}
