//! The generated tests, lines about cases that take long, and notices about tests that test runners count as passed although less ran than
//! it seems: skipped tests, and replays.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use evalsuite_records::record::{CaseRecord, Mode, Reason, ReasonCode, Rule, Status, TrialRecord};

use crate::entry::run_error::{RunError, evaluation_error, fail, setup_error, with_sources};
use crate::entry::{probe, reload, suite_check, suite_description};
use crate::model::evals::Evals;
use crate::model::progress::{ProgressEvent, ProgressStep};
use crate::model::suite::EvalSuite;
use crate::platform::process::test_runner;
use crate::platform::{environment, notice};
use crate::record::run_directory::RunDirectory;
use crate::run::case::run_case;
use crate::run::case_report::{CaseReport, HOOK_FAILED, LOG, RESET_FAILED};
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
            crate::run::baseline_check::notice(record).iter().for_each(|line| notice::say(line));
            lines_of_pass(record).iter().for_each(|line| notice::say(line));
            lines_of_hooks(&record.test_name, report.trials()).iter().for_each(|line| notice::say(line));
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
    show_replay(settings, &run);
    let evals = reload::for_case(evals, case, settings, &run)?;
    let case = &evals.suite().cases[index];
    let test = SessionTest::begin(&evals, case, settings, &run)?;
    let report = run_case(&evals, case, settings, &run)?;
    test.end(!report.fails_test()).iter().for_each(|problem| notice::say(problem));
    let record = report.record();
    if let Some(reason) = record.reason.as_ref().filter(|_| record.outcome == Status::Skipped) {
        show_skip(&record.test_name, reason, evals.suite(), settings, &run);
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
    if let Some(wanted) = suite_description::new_cases() {
        return suite_check::run_new_cases(evals, &wanted);
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

/// What a pass hides: graders that failed, trials that ended in an error, and trials that did not run.
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
    let ran = record.trials.len();
    // Where one passed trial is enough, it has decided the case.
    if record.cost_limited && record.rule != Rule::Any && ran < record.planned as usize {
        lines.push(format!("PASSED AT ITS COST LIMIT {name}: {ran} of {} trials ran", record.planned));
    }
    lines
}

/// What was to follow the trials and failed, once for all trials: they are decided by then.
fn lines_of_hooks(name: &str, trials: &[TrialRecord]) -> Vec<String> {
    let mut failed: Vec<(&str, usize)> = Vec::new();
    let notes = trials.iter().flat_map(|trial| &trial.notes);
    for note in notes.filter(|note| [HOOK_FAILED, RESET_FAILED].contains(&&*note.code)) {
        // Each trial has a log of its own.
        let message = note.message.split(LOG).next().unwrap_or_default();
        match failed.iter_mut().find(|(known, _)| *known == message) {
            Some((_, times)) => *times += 1,
            None => failed.push((message, 1)),
        }
    }
    let times = |times| if times > 1 { format!(" ({times} trials)") } else { String::new() };
    failed.into_iter().map(|(message, of)| format!("HOOK FAILED {name}: {message}{}", times(of))).collect()
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

/// Time after which a case is long, and time between two lines about it.
const LONG: Duration = Duration::from_secs(5);

/// Chooses the steps of long cases that are shown as a line: at most one in five seconds per case.
#[derive(Debug, Default)]
pub struct LongCases {
    /// By test: when the case started, or when the last line about it was shown.
    since: HashMap<String, Duration>,
}

impl LongCases {
    /// The line about this step, if it is time for one. `now` is any clock, such as the time since the run started.
    pub fn line(&mut self, event: &ProgressEvent, now: Duration) -> Option<String> {
        let is_of_interest = match event.step {
            ProgressStep::CaseStarted {} => {
                self.since.insert(event.test_name.clone(), now);
                return None;
            }
            ProgressStep::CaseFinished { .. } => {
                self.since.remove(&event.test_name);
                return None;
            }
            ProgressStep::TrialFinished { finished, .. } => finished < event.trials,
            ProgressStep::GraderFinished { .. } => event.trials == 1,
            ProgressStep::TrialStarted { .. } => false,
        };
        let since = self.since.get_mut(&event.test_name).filter(|_| is_of_interest)?;
        if now.saturating_sub(*since) < LONG {
            return None;
        }
        *since = now;
        Some(event.to_string())
    }
}

/// Says once per run that a replay does not run the agent: a passed test looks as if it had.
fn show_replay(settings: &Settings, run: &RunDirectory) {
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

#[cfg(test)]
mod tests {
    use evalsuite_records::record::{Note, Status, TrialSummary};

    use super::*;

    fn event(trials: u32, step: ProgressStep) -> ProgressEvent {
        let [suite, package, module, test_name, case_id, target] =
            ["s", "p", "evals::s", "s::a", "a", "default"].map(str::to_owned);
        ProgressEvent { suite, package, module, test_name, case_id, target, trials, step }
    }

    fn trial(trial: u32) -> ProgressStep {
        let outcome = Status::Passed;
        ProgressStep::TrialFinished {
            trial,
            outcome,
            score: None,
            finished: trial + 1,
            mean_score: None,
            cost_usd: None,
            is_cost_partial: false,
        }
    }

    #[test]
    fn a_pass_with_fewer_trials_than_planned_has_a_line() {
        let record = |rule, cost_limited, trials, planned| {
            let mut record = CaseRecord::default();
            (record.outcome, record.rule) = (Status::Passed, rule);
            (record.cost_limited, record.planned) = (cost_limited, planned);
            record.identity.test_name = "shop::a".to_owned();
            record.trials = vec![TrialSummary::default(); trials];
            record
        };
        let expected = ["PASSED AT ITS COST LIMIT shop::a: 1 of 4 trials ran"];
        assert_eq!(lines_of_pass(&record(Rule::Every, true, 1, 4)), expected);
        let decided =
            [record(Rule::Every, false, 1, 4), record(Rule::Every, true, 4, 4), record(Rule::Any, true, 1, 4)];
        assert!(decided.iter().all(|record| lines_of_pass(record).is_empty()));
    }

    #[test]
    fn hooks_that_failed_after_trials_have_a_line() {
        let trial = |notes: &[(&str, &str)]| {
            let mut trial = TrialRecord::default();
            trial.notes = notes.iter().map(|(code, message)| Note::new(*code, *message)).collect();
            trial
        };
        let failed = |log| trial(&[("hook_failed", log), ("grader_failed", "x")]);
        let trials = [
            failed(
                "hook `after_each` of the suite ended with exit code 4: no room (log: /runs/1/trial-000/after_each.log)",
            ),
            failed(
                "hook `after_each` of the suite ended with exit code 4: no room (log: /runs/1/trial-001/after_each.log)",
            ),
            trial(&[("reset_failed", "the workspace is gone")]),
            trial(&[]),
        ];
        let expected = [
            "HOOK FAILED shop::a: hook `after_each` of the suite ended with exit code 4: no room (2 trials)",
            "HOOK FAILED shop::a: the workspace is gone",
        ];
        assert_eq!(lines_of_hooks("shop::a", &trials), expected);
        assert!(lines_of_hooks("shop::a", &trials[3..]).is_empty());
    }

    #[test]
    fn a_long_case_has_a_line_every_few_seconds() {
        let mut cases = LongCases::default();
        let mut at = |seconds, step| cases.line(&event(9, step), Duration::from_secs(seconds));
        assert_eq!(at(10, trial(0)), None, "a case that is not known to have started");
        assert_eq!(at(10, ProgressStep::CaseStarted {}), None);
        assert_eq!(at(14, trial(0)), None, "not long yet");
        assert_eq!(at(15, trial(1)).as_deref(), Some("s::a: trial 2 of 9 passed"));
        assert_eq!(at(19, trial(2)), None, "there was one four seconds ago");
        assert_eq!(at(20, ProgressStep::TrialStarted { trial: 3, attempt: 0 }), None);
        assert_eq!(at(21, trial(3)).as_deref(), Some("s::a: trial 4 of 9 passed"));
        assert_eq!(at(50, trial(8)), None, "the result of the case follows");
    }

    #[test]
    fn graders_are_shown_where_there_is_only_one_trial() {
        let grader = || ProgressStep::GraderFinished { trial: 0, grader: "g".into(), verdict: None, value: Some(1.0) };
        for (trials, expected) in [(1, Some("s::a: trial 1 of 1, grader g: 1.00")), (2, None)] {
            let mut cases = LongCases::default();
            cases.line(&event(trials, ProgressStep::CaseStarted {}), Duration::ZERO);
            assert_eq!(cases.line(&event(trials, grader()), LONG).as_deref(), expected);
        }
    }
}
