//! `cargo evalsuite health`.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use clap::Args;
use evalsuite::tooling::TestDescription;
use evalsuite_records::record::SuiteId;
use evalsuite_records::run_directory::OutputDirectory;
use evalsuite_report::{Health as Report, HealthOptions, RunData, SuiteHealth};
use evalsuite_schema::diagnostics::suggest::did_you_mean;
use evalsuite_schema::diagnostics::terminal;

use crate::arguments::{OutputFormat, positive};
use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::print;

/// Find uninformative cases and graders and unreliable judges
///
/// Looks at the newest runs. Prints for each suite and target: the number of mature cases (nearly all trials pass), whether the suite is
/// saturated, cases that are ready for a regression suite, broken cases, cases that are flaky on one commit, and cases that were skipped in
/// every run; graders that decided in no trial; and judges whose model, replies to equal prompts, or agreement with people has changed.
/// Replays are ignored. Of regraded trials, only the results of judges count. Exit status: 0 on success, 2 if there are no such runs.
#[derive(Debug, Args)]
pub(crate) struct Health {
    /// Names of suites [default: all]
    #[arg(value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// Number of runs to look at: the newest ones with results of the suites
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = positive)]
    pub(crate) window: usize,
    /// Minimum pass rate of the trials of a mature case, 0 to 1
    #[arg(long, value_name = "RATE", default_value_t = 0.95)]
    pub(crate) mature: f64,
    /// Number of consecutive runs in which a case has to be mature to be ready for a regression suite
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = positive)]
    pub(crate) graduation_runs: usize,
    /// Maximum pass rate of the trials of a broken case, 0 to 1
    #[arg(long, value_name = "RATE", default_value_t = 0.0)]
    pub(crate) broken: f64,
    /// Minimum number of trials of a broken case
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) broken_trials: u32,
    /// Minimum share of mature cases in a saturated suite, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    pub(crate) saturated: f64,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

pub(crate) fn run(command: &Health) -> Result<CommandStatus> {
    for (flag, share) in
        [("--mature", command.mature), ("--broken", command.broken), ("--saturated", command.saturated)]
    {
        if !(0.0..=1.0).contains(&share) {
            let message = format!("{flag} must be between 0 and 1, and is {share}");
            return Err(CliError::new(message));
        }
    }
    let mut options = HealthOptions::default();
    (options.mature, options.graduation_runs) = (command.mature, command.graduation_runs);
    (options.broken, options.broken_trials) = (command.broken, command.broken_trials);
    options.saturated = command.saturated;
    let output = stored_runs::output_path()?;
    let health = Report::of_output(&output, &command.suites, command.window, &options)?;
    for unknown in &command.suites {
        let is_listed = health.suites.iter().any(|suite| suite.suite == *unknown);
        if is_listed || !Report::of_output(&output, std::slice::from_ref(unknown), 1, &options)?.window.is_empty() {
            continue;
        }
        let all = Report::of_output(&output, &[], command.window, &options)?;
        let meant = did_you_mean(unknown, all.suites.iter().map(|suite| suite.suite.as_str()));
        let message = format!("no run in {} has results of suite `{unknown}`", output.display());
        return Err(CliError::with_suggestion(message, meant));
    }
    let Some(newest) = health.window.first() else {
        return Err(stored_runs::no_runs("there are no runs with results", &output));
    };
    let run = RunData::read(OutputDirectory::new(&output).run_directory(&newest.run))?;
    let health = health.with_probes(&stored_runs::read_probes(&run)?);
    print(command.format, &health, |out| write!(out, "{}", terminal::lines(&health.to_string())))?;
    Ok(CommandStatus::Good)
}

/// Whether a test of a suite is of a case that passed and failed on one commit in the last runs of the suites.
pub(crate) fn flaky(
    output: &Path,
    suites: &[(SuiteId, String)],
    window: usize,
) -> io::Result<impl Fn(&str, &TestDescription) -> bool> {
    let health = Report::of_suites(output, suites, window, &HealthOptions::default())?;
    let cases = |suite: SuiteHealth| {
        let (name, target) = (suite.suite, suite.target);
        suite.flaky.into_iter().map(move |case| (name.clone(), case.case, target.clone()))
    };
    let flaky: BTreeSet<_> = health.suites.into_iter().flat_map(cases).collect();
    Ok(move |suite: &str, test: &TestDescription| {
        let is_meant = |target: &str| test.target.as_deref().is_none_or(|name| name == target);
        flaky.iter().any(|(of, case, target)| of == suite && *case == test.case_id && is_meant(target))
    })
}
