//! The generated tests.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use evalsuite_records::record::{CaseRecord, Status};

use crate::entry::long_cases::LongCases;
use crate::entry::run_error::{RunError, RunErrorKind};
use crate::entry::{new_cases, notices, probe, reload, suite_check, suite_description};
use crate::model::evals::Evals;
use crate::platform::error_chain::chain;
use crate::platform::notice;
use crate::platform::process::test_runner;
use crate::platform::redaction::without_secrets;
use crate::run::case::run_case;
use crate::run::case_report::CaseReport;
use crate::run::session::SessionTest;
use crate::run::settings::Settings;

/// Runs one case as a test.
///
/// # Panics
///
/// If the case does not pass.
pub fn case(evals: fn() -> Evals, index: usize) {
    if suite_description::is_wanted() {
        return;
    }
    match run(evals(), index) {
        Err(error) => fail(setup_error(&error)),
        Ok(report) if report.fails_test() => fail(report.to_string()),
        Ok(report) => {
            let record = report.record();
            crate::run::baseline::text::notice(record).iter().for_each(|line| notice::say(line));
            lines_of_pass(record).iter().for_each(|line| notice::say(line));
            match report.status() {
                Status::Passed => println!("{}", passed_line(&report)),
                Status::Failed => println!("{report}"),
                Status::Skipped | Status::Error => {}
            }
        }
    }
}

fn run(evals: Evals, index: usize) -> Result<CaseReport, RunError> {
    let settings = Settings::from_environment()?;
    // Nextest starts a process per test.
    if settings.is_nextest() {
        test_runner::end_with_parent();
    }
    let settings = &with_lines_of_long_cases(settings);
    let Some(case) = evals.suite().cases.get(index) else {
        fail(evaluation_error("select/unsupported", format!("the suite has no case {index}")));
    };
    let run = settings.run_of_tests(evals.suite())?;
    notices::show_replay(settings, &run);
    let evals = reload::for_case(evals, case, settings, &run)?;
    let case = &evals.suite().cases[index];
    let test = SessionTest::begin(&evals, case, settings, &run)?;
    let report = run_case(&evals, case, settings, &run)?;
    test.end(!report.fails_test()).iter().for_each(|problem| notice::say(problem));
    let record = report.record();
    if let Some(reason) = record.reason.as_ref().filter(|_| record.outcome == Status::Skipped) {
        notices::show_skip(&record.test_name, reason, evals.suite(), settings, &run);
    }
    Ok(report)
}

/// Checks as a test whether the compiled suite is up to date, and whether graders accept their configs.
///
/// # Panics
///
/// If they do not.
pub fn check(evals: fn() -> Evals) {
    let evals = evals();
    if suite_description::is_wanted() {
        return suite_description::write(&evals).unwrap_or_else(|error| fail(with_sources(&error)));
    }
    if let Some(wanted) = new_cases::wanted() {
        return new_cases::run(evals, &wanted);
    }
    if probe::reply_if_asked(&evals).unwrap_or_else(|error| fail(with_sources(&error))) {
        return;
    }
    let evals = Settings::from_environment()
        .map_err(RunError::from)
        .and_then(|settings| Ok(reload::whole_suite(evals, settings)?))
        .unwrap_or_else(|error| fail(setup_error(&error)));
    let mut outcome = suite_check::run(&evals);
    for reason in &outcome.skipped {
        notice::say(&format!("{}: {reason}", evals.suite().name));
    }
    outcome.problems.extend(probe::findings_of_probe(&evals));
    if !outcome.problems.is_empty() {
        fail(outcome.problems.join("\n\n"));
    }
}

/// Settings with which a case that takes long shows its trials on the terminal. Where the steps go to a file, its reader shows
/// them.
fn with_lines_of_long_cases(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    if settings.progress_file.is_none() && io::stderr().is_terminal() {
        let (start, cases) = (Instant::now(), Mutex::new(LongCases::default()));
        settings.progress.add(move |event| {
            let line = cases.lock().unwrap_or_else(PoisonError::into_inner).line(event, start.elapsed());
            line.iter().for_each(|line| notice::say(line));
        });
    }
    settings
}

/// What a pass hides: graders that failed, and trials that ended in an error.
fn lines_of_pass(record: &CaseRecord) -> Vec<String> {
    let mut lines = Vec::new();
    if record.outcome != Status::Passed {
        return lines;
    }
    let name = &record.test_name;
    if !record.failed_graders.is_empty() {
        let score = record.score.map(|score| format!(" at {score:.2}")).unwrap_or_default();
        lines.push(format!("PASSED{score} ALTHOUGH A GRADER FAILED {name}: {}", record.failed_graders.join(", ")));
    }
    if record.errors > 0 {
        let (errors, trials, tolerated) = (record.errors, record.trials.len(), record.tolerated_errors);
        let line = format!("{errors} of {trials} trials ended in an error; `trials.errors` is {tolerated}");
        lines.push(format!("PASSED WITH ERRORS {name}: {line}"));
    }
    lines
}

/// What the test harness shows of a passed test on request (`--show-output`, `--nocapture`).
fn passed_line(report: &CaseReport) -> String {
    let record = report.record();
    let score = record.score.map(|score| format!("  score {score:.2}")).unwrap_or_default();
    let trials = match record.planned {
        1 => String::new(),
        planned => format!(", {} of {planned} trials passed", record.passed),
    };
    let reused = record.reused_run.as_ref().map(|run| format!("  reused from run {run}")).unwrap_or_default();
    format!("evaluation passed: {} ({}){score}{trials}{reused}", record.case_id, record.suite)
}

/// An error with its sources on one line.
pub(crate) fn with_sources(error: &RunError) -> String {
    chain(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

pub(crate) fn setup_error(error: &RunError) -> String {
    let place = match error.kind() {
        RunErrorKind::InvalidSetting => "setup/invalid_setting",
        _ => "setup",
    };
    evaluation_error(place, with_sources(error))
}

pub(crate) fn evaluation_error(place: &str, message: impl std::fmt::Display) -> String {
    format!("evaluation error ({place}): {message}")
}

/// Fails the test with a text. The note and backtrace of a panic are left out: they do not help with the case.
pub(crate) fn fail(text: String) -> ! {
    let text = without_secrets(&text).into_owned();
    eprintln!("{}", text.trim_end());
    std::panic::resume_unwind(Box::new(text))
}
