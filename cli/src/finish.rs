//! `cargo evalsuite finish`.

use std::env;
use std::io::Write;
use std::path::Path;

use clap::Args;
use evalsuite::Status;
use evalsuite::tooling::{FinishedRun, finish_run};
use evalsuite_records::record::{CaseRecord, Reason, ReasonCode, RunSummary, Stage, SuiteId, SuiteSummary};
use evalsuite_records::run_directory::SUITES;
use evalsuite_report::{Problem, RunData, RunDecision, SuiteText};
use evalsuite_schema::diagnostics::counted;
use schemars::JsonSchema;
use serde::Serialize;

use crate::arguments::OutputFormat;
use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::{self, Progress, print_json, say, stdout};
use crate::report;

/// Run the pending after_all hooks of a run, and summarize it
///
/// Also removes the base workspaces of the run. Usually, the last test of a suite does this. The last test is not known in a filtered
/// nextest run, or if several processes share one `EVALSUITE_RUN_ID`. Exit status: 0 on success, 1 if a hook failed, a case has no record,
/// or a record is missing or cannot be read, 2 if tests are still running or the run does not exist, 4 if tests were not started.
#[derive(Debug, Args)]
pub(crate) struct Finish {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Accept that tests are missing, because they were not selected or run on another machine
    #[arg(long)]
    pub(crate) partial: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// A run that was finished.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EndedRun {
    /// Name and version of this format.
    #[schemars(extend("const" = "evalsuite.finish/1"))]
    schema: &'static str,
    /// Id of the run.
    run_id: String,
    /// Directory of the run.
    path: String,
    /// The summary that was written; `cargo evalsuite schema summary` prints its schema.
    summary: String,
    /// Number of hooks that were run.
    hooks: u32,
    /// Hooks that failed, files that could not be removed, and records of the run that are missing or cannot be read.
    problems: Vec<String>,
    /// The suites of the run.
    suites: Vec<EndedSuite>,
}

/// A suite of a run.
#[derive(Debug, Serialize, JsonSchema)]
struct EndedSuite {
    /// Name of the suite.
    suite: String,
    /// Number of cases that passed.
    passed: usize,
    /// Number of cases that failed.
    failed: usize,
    /// Number of cases that ended in an error.
    error: usize,
    /// Number of cases that were skipped.
    skipped: usize,
    /// Number of trials that passed, failed or ended in an error.
    trials: u32,
    /// Number of trials that ended in an error.
    trial_errors: u32,
    /// Number of cases that passed although a grader failed.
    passed_with_failed_grader: u32,
    /// Records that are missing, because their process died, or cannot be read.
    problems: Vec<String>,
    /// Paths of the tests that were not started: another machine runs them, the run ended before them, or they were not chosen, unless
    /// `cargo evalsuite run` chose the tests. Of `run`, only tests that this call chose.
    not_started: Vec<String>,
    #[serde(skip)]
    id: SuiteId,
    /// Whether the run has more of it than the names of chosen tests.
    #[serde(skip)]
    has_records: bool,
}

impl EndedRun {
    /// Leaves out tests that were not started because nobody chose them, and suites of which nothing else is known.
    pub(crate) fn retain_chosen(&mut self, is_chosen: impl Fn(&SuiteId, &str) -> bool) {
        for EndedSuite { id, not_started, .. } in &mut self.suites {
            not_started.retain(|test| is_chosen(id, test));
        }
        self.suites.retain(|suite| suite.has_records || !suite.not_started.is_empty());
    }
}

impl EndedSuite {
    fn new(suite: SuiteSummary, data: &RunData) -> Self {
        let count = |outcome| suite.cases.iter().filter(|case| case.outcome == outcome).count();
        Self {
            has_records: data.without_records.iter().all(|other| other.id != suite.id),
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            error: count(Status::Error),
            skipped: count(Status::Skipped),
            trials: suite.targets.iter().map(|target| target.trials.run()).sum(),
            trial_errors: suite.targets.iter().map(|target| target.trials.error).sum(),
            passed_with_failed_grader: suite.targets.iter().map(|target| target.passed_with_failed_grader).sum(),
            suite: suite.suite,
            problems: suite.problems,
            not_started: suite.not_started,
            id: suite.id,
        }
    }
}

pub(crate) fn run(command: &Finish) -> Result<CommandStatus> {
    let run = stored_runs::find(&command.run)?;
    if run.is_in_use()? {
        return Err(CliError::new(format!("tests of run `{}` are still running", run.id())));
    }
    let (ended, end) = finish(run.path(), command.format, true)?;
    ended.iter().try_for_each(|ended| print_json(&mut stdout(), ended))?;
    Ok(if end == CommandStatus::Undecided && command.partial { CommandStatus::Good } else { end })
}

/// Finishes a run, and says how `finish` ends. Prints its summary; for JSON, returns it instead. `is_asked`: the user asked for it, and not for a run; prints that no
/// hooks were left, and the tests that were not started, too.
pub(crate) fn finish(run: &Path, format: OutputFormat, is_asked: bool) -> Result<(Option<EndedRun>, CommandStatus)> {
    let progress = Progress::start("finishing the run");
    let mut finished = finish_run(run)?;
    let data = RunData::read_cases(run)?;
    finished.problems.extend(problems_of_run(&data));
    drop(progress);
    let end = run_end(&finished);
    if format == OutputFormat::Human {
        print_summary(run, &data, &finished, is_asked)?;
        warn_of_skips(&finished.summary);
        CliError::of_all(CommandStatus::Problems, finished.problems).print();
        return Ok((None, end));
    }
    warn_of_skips(&finished.summary);
    let ended = EndedRun {
        schema: "evalsuite.finish/1",
        run_id: finished.summary.run_id,
        path: run.display().to_string(),
        summary: finished.file.display().to_string(),
        hooks: finished.hooks,
        problems: finished.problems,
        suites: finished.summary.suites.into_iter().map(|suite| EndedSuite::new(suite, &data)).collect(),
    };
    Ok((Some(ended), end))
}

/// The records of a run that are missing or cannot be read, beside those that are problems of its suites.
fn problems_of_run(data: &RunData) -> Vec<String> {
    let is_of_suite = |problem: &&Problem| data.suites.iter().any(|suite| suite.problems.contains(problem));
    let of_run = data.problems.iter().filter(|problem| !is_of_suite(problem) && problem.file != SUITES);
    of_run.map(Problem::sentence).collect()
}

fn print_summary(run: &Path, data: &RunData, finished: &FinishedRun, is_asked: bool) -> Result<()> {
    let mut out = stdout();
    match finished.hooks {
        0 if is_asked => writeln!(out, "no hooks were left to run")?,
        0 => {}
        1 => writeln!(out, "1 hook was run")?,
        hooks => writeln!(out, "{hooks} hooks were run")?,
    }
    writeln!(out, "{}", finished.file.display())?;
    for suite in &finished.summary.suites {
        // Without a record, the suite has nothing but tests that were not started.
        if !is_asked && data.without_records.iter().any(|other| other.name == suite.suite) {
            continue;
        }
        write!(out, "{}", SuiteText::new(suite, data).with_width(output::width()))?;
        for problem in &suite.problems {
            writeln!(out, "{}: {problem}", suite.suite)?;
        }
        if let lost @ 1.. = suite.cases.iter().filter(|case| is_lost(case)).count() {
            writeln!(out, "{}: {} without a record", suite.suite, counted(lost, "case"))?;
        }
        // A run of selected cases does not start the others.
        if is_asked {
            report::print_not_started(&mut out, &suite.suite, data.not_started_text(), &suite.not_started)?;
        }
    }
    if let Some(decision) = RunDecision::of(data) {
        write!(out, "\n{decision}")?;
    }
    // To read the trials takes longer, and few runs have what they are read for.
    let is_calibrated = data.suites.iter().any(|suite| suite.calibration.is_some());
    if is_calibrated || data.suites.iter().flat_map(|suite| &suite.cases).any(|case| case.record.reference_arm) {
        let run = RunData::read(run)?;
        report::print_judged_rates(&mut out, &run)?;
        crate::lift::write_lifts(&mut out, &run)?;
    }
    Ok(())
}

/// A problem is a hook that failed, something that could not be removed, or a record that is missing, because its process died, or cannot be
/// read. Without any, a run with tests that were not started is undecided.
fn run_end(finished: &FinishedRun) -> CommandStatus {
    let suites = &finished.summary.suites;
    if !finished.problems.is_empty() || suites.iter().any(|suite| !suite.problems.is_empty()) {
        CommandStatus::Problems
    } else if suites.iter().any(|suite| !suite.not_started.is_empty()) {
        CommandStatus::Undecided
    } else {
        CommandStatus::Good
    }
}

/// Whether a case has no record: its process died, or the record cannot be read.
fn is_lost(case: &CaseRecord) -> bool {
    let is_death = |reason: &Reason| (reason.stage, reason.code) == (Stage::Agent, ReasonCode::ProcessDied);
    case.reason.as_ref().is_some_and(is_death)
}

/// On a CI server, skipped cases are easily overlooked: test runners count them as passed.
fn warn_of_skips(summary: &RunSummary) {
    let is_on = |name: &str| env::var(name).is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()));
    let is_selected =
        |case: &&CaseRecord| case.reason.as_ref().is_none_or(|reason| reason.code != ReasonCode::Filtered);
    let cases = summary.suites.iter().flat_map(|suite| &suite.cases);
    let skipped = cases.filter(|case| case.outcome == Status::Skipped).filter(is_selected).count();
    if skipped > 0 && is_on("CI") && !is_on("EVALSUITE_REQUIRE") {
        let (cases, count) = if skipped == 1 { ("case was", "counts") } else { ("cases were", "count") };
        say!(
            "warning: {skipped} {cases} skipped and {count} as passed; EVALSUITE_REQUIRE=1 turns skipped cases into errors"
        );
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_records::run_data::SuiteData;

    use super::*;

    #[test]
    fn a_suite_without_records_is_no_suite_of_a_run_that_did_not_choose_it() {
        let suite = |name: &str| {
            let mut suite = SuiteSummary::default();
            suite.id = SuiteId::new(name);
            suite.suite = name.to_owned();
            suite.not_started = vec!["evals::a".to_owned()];
            suite
        };
        let mut data = RunData::default();
        for name in ["p (p::evals)", "p (p::others)"] {
            data.without_records.push(SuiteData { id: SuiteId::new(name), ..SuiteData::default() });
        }
        let mut ended = EndedRun {
            schema: "",
            run_id: String::new(),
            path: String::new(),
            summary: String::new(),
            hooks: 0,
            problems: Vec::new(),
            suites: ["p (p::evals)", "p (p::others)", "shop"].map(|name| EndedSuite::new(suite(name), &data)).into(),
        };
        ended.retain_chosen(|suite, _| suite.name == "p (p::others)");
        assert_eq!(
            ended.suites.iter().map(|suite| suite.suite.as_str()).collect::<Vec<_>>(),
            ["p (p::others)", "shop"]
        );
    }
}
