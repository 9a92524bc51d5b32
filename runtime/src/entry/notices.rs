//! Notices about tests that test runners count as passed although less ran than it seems: skipped tests, and replays.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};

use evalsuite_records::record::{Mode, Reason, ReasonCode};

use crate::model::suite::EvalSuite;
use crate::platform::{environment, notice};
use crate::record::run_directory::RunDirectory;
use crate::run::settings::Settings;

/// Says once per run that a replay does not run the agent: a passed test looks as if it had.
pub(crate) fn show_replay(settings: &Settings, run: &RunDirectory) {
    if settings.mode == Mode::Replay && run.mark("replay-shown") {
        notice::say_on_terminal_too(
            "EVALSUITE_MODE=replay grades recorded answers and does not run the agent; changes to its code have no effect",
        );
    }
}

/// Shows that a test was skipped, and once per process what to do about it.
pub(crate) fn show_skip(name: &str, reason: &Reason, suite: &EvalSuite, settings: &Settings, run: &RunDirectory) {
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
    // One line per suite and run, where the test runner captures the output of tests that pass.
    let is_captured = settings.is_nextest() && settings.progress_file.is_none() && !io::stderr().is_terminal();
    if is_captured && run.mark(&format!("skips-shown-{}", suite.key())) {
        let help = format!("`cargo evalsuite finish {}` lists all that were skipped", run.run_id);
        notice::say_on_terminal(&format!("suite {} has skipped tests: {name}: {}; {help}", suite.name, reason.message));
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
