//! `cargo evalsuite run`: runs the tests of chosen cases and finishes their run.

pub(crate) mod cargo_commands;
pub(crate) mod chosen_tests;
#[cfg(feature = "record")]
pub(crate) mod model_calls;

/// Run cases, and summarize and compare their results
///
/// Builds the tests, lists the cases of their suites, and runs the selected cases with `cargo test` or nextest. Then summarizes the run as
/// `finish` does, compares its results with the baseline, or with an earlier run of another commit if there is no baseline, and checks the
/// gates of suites that ran completely. All test programs write to one run, so after_all hooks run once. Exit status: 0 if all tests pass and
/// all gates are met, 1 if a test fails, a gate is missed, a case has no record or a hook failed, 2 if no case is selected or the tests cannot
/// be built, 4 if all tests pass and a gate cannot be decided, or a selected test was not started, for example because the configuration of
/// nextest leaves it out.
///
/// With --until-decided, every selected case runs once, then again, and so on. After each round, and within large ones, the trials are
/// compared with those of the baseline, and the run ends as soon as the comparison is decided. Exit status: 0 if the run is within the
/// margin, 1 if it is worse than the baseline, 4 if the last trial decides neither. With EVALSUITE_RUN_ID, an interrupted run continues.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Run {
    /// Run only cases whose id or test name contains one of these texts
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// Run the tests with `cargo nextest run`
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Run only cases with this tag, of their own or of their suite; if repeated, cases with any of the tags
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Skip cases with this tag; may be repeated
    #[arg(long = "exclude-tag", value_name = "TAG")]
    pub(crate) excluded_tags: Vec<String>,
    /// Run only cases with this `failure_bucket` in their metadata; may be repeated
    #[arg(long = "bucket", value_name = "BUCKET")]
    pub(crate) buckets: Vec<String>,
    /// Run only cases that have changed (files, input, graders, agent, judge, settings), and reuse the newest results of the others.
    /// EVALSUITE_AGENT_DIGEST is the version of the agent [default: a digest of the sources of the packages]
    #[arg(long)]
    pub(crate) changed: bool,
    /// Run only cases whose last result is a failure or an error
    #[arg(long, conflicts_with = "changed")]
    pub(crate) failed: bool,
    /// Run only cases that passed and failed on the same commit in the last N runs with results of the suites
    #[arg(long, value_name = "N", value_parser = positive, conflicts_with_all = ["changed", "failed"])]
    pub(crate) flaky: Option<usize>,
    /// Maximum number of trials that repeat a case that differs from its baseline; 0 disables repeats
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) confirm: Option<u32>,
    /// Record the calls of models that agents make, one file per trial in `.evalsuite/cassettes`: a server on loopback takes the place of
    /// OPENAI_BASE_URL, ANTHROPIC_BASE_URL and the variables of `record` in the macro. Trials run one at a time. Requires the feature `record`
    #[arg(long, conflicts_with_all = ["replay", "until_decided"])]
    pub(crate) record: bool,
    /// Answer the calls of models from the recording, without network and keys. A call that is not in it makes its trial an error that
    /// shows the difference. Requires the feature `record`
    #[arg(long, conflicts_with_all = ["changed", "until_decided"])]
    pub(crate) replay: bool,
    /// With --replay: wait between the parts of a streamed answer as the recording did
    #[arg(long, requires = "replay")]
    pub(crate) paced: bool,
    /// Run trials in rounds until the run is shown to be worse than the baseline, or within the margin of it
    #[arg(long, requires = "margin", conflicts_with_all = ["changed", "failed", "flaky", "confirm"])]
    pub(crate) until_decided: bool,
    /// With --until-decided: largest acceptable loss of the mean score, such as `10%` or `0.1`
    #[arg(long, value_name = "M", value_parser = margin, requires = "until_decided")]
    pub(crate) margin: Option<f64>,
    /// With --until-decided: run to compare with instead of the baseline, its id or directory
    #[arg(long, value_name = "RUN", requires = "until_decided")]
    pub(crate) base: Option<String>,
    /// With --until-decided: metadata key of dependent cases: cases with the same value are not treated as independent
    #[arg(long, value_name = "KEY", requires = "until_decided")]
    pub(crate) cluster_by: Option<String>,
    /// With --until-decided: fixed number of trials of each case, for a budget (boundaries of O'Brien and Fleming) [default: at most twice
    /// the trials in the files]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), requires = "until_decided")]
    pub(crate) trials: Option<u32>,
    /// Output format; with `json`, the output of the tests goes to standard error
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
    /// Arguments for `cargo test` or `cargo nextest run`, and after another `--` for the test programs
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
    #[command(flatten)]
    pub(crate) build: Build,
}

mod progress;
pub(crate) mod source_digest;
mod suite_tests;
mod until_decided;
#[cfg(not(feature = "record"))]
mod without_model_calls;

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Duration;

use clap::Args;
use evalsuite::tooling::{SuiteDescription, run_id_or_new};
use evalsuite_records::record::{RunRecord, SuiteId};
use evalsuite_records::run_directory::{OutputDirectory, RUN_RECORD, StoredRun, read_run_record};
use evalsuite_report::{Comparison, RunData, RunDecision};
use evalsuite_schema::diagnostics::{Diagnostics, render, terminal};
use schemars::JsonSchema;
use serde::Serialize;

use self::cargo_commands::exact_calls;
use self::chosen_tests::choose_tests;
#[cfg(feature = "record")]
use self::model_calls::ModelCalls;
use self::source_digest::source_digest;
use self::suite_tests::{SuiteTests, TestKey};
use self::until_decided::UntilDecided;
#[cfg(not(feature = "record"))]
use self::without_model_calls::ModelCalls;
use crate::arguments::{Build, OutputFormat, margin, positive};
use crate::finish::{self, EndedRun};
use crate::locate::includes::Tracked;
use crate::locate::{stored_runs, suite_search};
use crate::platform::cargo_process::exit;
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::{print, say};
use crate::{check, diff, report};

/// The result of a run of chosen cases.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct RunResult {
    /// Name and version of this format.
    #[schemars(extend("const" = "evalsuite.run_result/1"))]
    schema: &'static str,
    /// Whether all tests passed.
    tests_passed: bool,
    /// The run, as `finish --format json` prints it; `null` if nothing was recorded, or tests of another command are still running in it.
    run: Option<EndedRun>,
    /// How the results compare with the baseline, or with the run before: as `diff --format json` prints it. `null` if there is neither.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    comparison: Option<Comparison>,
    #[serde(flatten)]
    gates: crate::gate::GatesOfRun,
    /// What the trials of `run --until-decided` have decided; `null` without the option.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    decision: Option<RunDecision>,
}

pub(crate) fn run(command: &Run) -> Result<CommandStatus> {
    #[cfg(not(feature = "record"))]
    without_model_calls::refuse(command)?;
    if has_endless_links()? {
        return Err(CliError::printed());
    }
    let suites = chosen_tests::describe_suites(&command.build)?;
    let output = stored_runs::output_path()?;
    let chosen = choose_tests(command, &output, &suites)?;
    let given = env::var("EVALSUITE_RUN_ID").ok().filter(|id| !id.is_empty());
    let id = run_id_or_new(given.as_deref());
    let agent_digest = match env::var_os(RunRecord::AGENT_DIGEST).filter(|digest| !digest.is_empty()) {
        Some(digest) => digest,
        None => source_digest(&env::current_dir()?, &command.build, &suites, &output)?.into(),
    };
    let model_calls = ModelCalls::start(command, &suites)?;
    let call_runner = |build: Build, chosen: &SuiteTests, add: &dyn Fn(&mut Command)| {
        let command = &Run { build, ..command.clone() };
        let mut tests = cargo_commands::run_tests(command, &chosen.tests(), progress::colors());
        tests
            .env("EVALSUITE_RUN_ID", &id)
            // Absolute: tests run in the directories of their packages.
            .env("EVALSUITE_OUTPUT", &output)
            .env(RunRecord::AGENT_DIGEST, &agent_digest);
        #[cfg(feature = "mcp")]
        tests.env("EVALSUITE_MCP_PROXY", env::current_exe()?);
        if let Some(trials) = command.confirm {
            tests.env("EVALSUITE_CONFIRM", trials.to_string());
        }
        if command.changed {
            tests.env("EVALSUITE_ONLY_CHANGED", "1");
        }
        if let Some(calls) = &model_calls {
            calls.add_to(&mut tests);
        }
        add(&mut tests);
        progress::run(tests, chosen.cases.clone(), command.format)
    };
    // The first status of a call that failed, else a good one.
    let run_tests = |chosen: &SuiteTests, add: &dyn Fn(&mut Command)| {
        let calls = exact_calls(&command.build, chosen, &suites)?;
        let statuses = calls.into_iter().map(|(build, tests)| call_runner(build, &tests, add));
        let statuses = statuses.collect::<Result<Vec<ExitStatus>>>()?;
        let failed = statuses.iter().find(|status| !status.success()).or(statuses.first());
        failed.copied().ok_or_else(|| CliError::new("no test was chosen"))
    };
    // With a partition, other machines run the other tests.
    let is_partition = |argument: &String| argument == "--partition" || argument.starts_with("--partition=");
    let is_part = command.arguments.iter().any(is_partition);
    let complete = if is_part { BTreeSet::new() } else { complete_suites(&suites, &chosen.cases) };
    let directory = OutputDirectory::new(&output);
    let run = directory.run_directory(&id);
    let mut result = RunResult { schema: "evalsuite.run_result/1", ..RunResult::default() };
    let status = if command.until_decided {
        let agent = agent_digest.to_string_lossy();
        let until_decided = UntilDecided::new(command, &suites, &chosen, &directory, &run, &agent)?;
        let failed = until_decided.run(is_part, run_tests)?;
        result.decision = Some(until_decided.decision()?);
        failed
    } else {
        warn_of_other_agent(&run, &agent_digest);
        chosen.record(&directory, &run)?;
        Some(run_tests(&chosen, &|_| ())?)
    };
    if StoredRun::open(&run).is_none() {
        SuiteTests::remove_record(&run)?;
    }
    if let Some(calls) = &model_calls {
        calls.show();
    }
    let status = status.filter(|status| !status.success());
    result.tests_passed = status.is_none();
    let mut checked = CommandStatus::Good;
    // It does not exist if the tests cannot be built.
    if run.is_dir() {
        let stored = StoredRun::open(&run);
        let mut end = CommandStatus::Good;
        if stored.as_ref().map(is_still_in_use).transpose()?.unwrap_or(false) {
            say!(
                "note: tests of another command are still running in run `{id}`, which is summarized when they have ended: by that command, or by \
                 `cargo evalsuite finish {id}`"
            );
        } else {
            (result.run, end) = finish::finish(&run, command.format, false)?;
        }
        let is_chosen = |suite: &SuiteId, test: &str| chosen.cases.contains(&TestKey::new(suite, test));
        result.run.iter_mut().for_each(|ended| ended.retain_chosen(is_chosen));
        if let Some(run) = stored {
            if result.decision.is_none() {
                // The exit status is that of the tests all the same.
                result.comparison = diff::after_run(&run).unwrap_or_else(|error| {
                    say!("warning: the run could not be compared: {error}");
                    None
                });
            }
            // A misspelled tool fails its case. Of those that must not be called, the first run tells.
            if !result.tests_passed || directory.runs()?.len() == 1 {
                let uncalled = check::uncalled_tools()?;
                uncalled.iter().for_each(|warning| say!("{}\n", render::text(warning, render::Style::Plain)));
            }
            let names = chosen_tests::suite_names(&suites);
            let is_complete = |suite: &str| complete.contains(suite);
            (result.gates, checked) = crate::gate::after_run(&run, &names, is_complete)?;
        }
        // A test program that ended with status 0 before its tests did, and a hook that failed after them. Tests that were not started
        // need not have been chosen.
        if end == CommandStatus::Problems {
            checked = end;
        }
    }
    let is_known = !is_part && (run.is_dir() || result.tests_passed);
    let not_started = if is_known { chosen_and_not_started(&run, &suites, &chosen.cases)? } else { Vec::new() };
    print(command.format, &result, |out| {
        not_started
            .iter()
            .try_for_each(|(suite, tests)| report::print_not_started(out, suite, "not started", tests))?;
        let mut comparison = result.comparison.iter().map(|comparison| terminal::lines(&comparison.to_string()));
        comparison.try_for_each(|comparison| write!(out, "\n{comparison}"))?;
        if let Some(decision) = result.decision.as_ref().filter(|_| !run.is_dir()) {
            write!(out, "{decision}")?;
        }
        result.gates.write(out)?;
        Ok(())
    })?;
    match (&result.decision, status) {
        // A failing case is a part of what was decided, any other failure is none.
        (Some(_), Some(status)) if !has_failing_case(&run)? => Ok(exit(status)),
        (Some(_), _) if is_part => Ok(checked),
        (Some(decision), _) => Ok(match until_decided::exit(decision.verdict) {
            CommandStatus::Good => checked,
            exit => exit,
        }),
        (None, Some(status)) => Ok(exit(status)),
        // The configuration of the test runner, or arguments for it, may leave out tests that were chosen.
        (None, None) if checked == CommandStatus::Good && !not_started.is_empty() => Ok(CommandStatus::Undecided),
        (None, None) => Ok(checked),
    }
}

/// The chosen tests that did not start, by suite: the test program died before them, or the test runner ended. Of a suite that is not in the
/// run, none did.
fn chosen_and_not_started(
    run: &Path,
    suites: &[SuiteDescription],
    chosen: &BTreeSet<TestKey>,
) -> Result<Vec<(String, Vec<String>)>> {
    let data = if run.is_dir() { RunData::read_cases(run)? } else { RunData::default() };
    let of_suite = |suite: &SuiteDescription| {
        let in_run = data.suites.iter().find(|data| data.id == suite.id);
        let in_run: Option<BTreeSet<String>> = in_run.map(|data| data.not_started().into_iter().collect());
        let tests = suite.tests.iter().map(|test| &test.test);
        let tests = tests.filter(|test| chosen.contains(&TestKey::new(&suite.id, test)));
        let missing = tests.filter(|test| in_run.as_ref().is_none_or(|missing| missing.contains(*test)));
        (suite.suite.clone(), missing.cloned().collect::<Vec<_>>())
    };
    Ok(suites.iter().map(of_suite).filter(|(_, tests)| !tests.is_empty()).collect())
}

/// A run that goes on with another agent has results of both. It may be meant so, and a record that cannot be read is reported at the end.
fn warn_of_other_agent(run: &Path, digest: &OsStr) {
    let record: Option<RunRecord> = read_run_record(run, Path::new(RUN_RECORD)).unwrap_or_default();
    if record.as_ref().and_then(RunRecord::agent_digest).is_some_and(|known| *digest != *known) {
        let run = run.display();
        say!(
            "warning: {run} was started with another agent, and will have results of both; another EVALSUITE_RUN_ID starts a new run"
        );
    }
}

/// Whether a test of a case failed in the run.
fn has_failing_case(run: &Path) -> Result<bool> {
    let Some(run) = StoredRun::open(run) else { return Ok(false) };
    let data = RunData::read_cases(run.path())?;
    Ok(data.suites.iter().flat_map(|suite| &suite.cases).any(|case| case.record.fails_test()))
}

/// Whether cargo would look for changes behind links that lead out of a package. They are printed: cargo says nothing while it looks.
fn has_endless_links() -> Result<bool> {
    let packages = suite_search::packages_around(&[env::current_dir()?]);
    let problems: Diagnostics = packages
        .iter()
        .flat_map(|package| Tracked::in_build_script(package))
        .flat_map(|tracked| tracked.problems())
        .collect();
    problems.iter().for_each(|problem| say!("{}\n", render::text(problem, render::Style::Colored)));
    Ok(!problems.is_empty())
}

/// Whether tests of a run are running. A program that a test started holds its locks for a moment after the test was killed.
fn is_still_in_use(run: &StoredRun) -> io::Result<bool> {
    for _ in 0..20 {
        if !run.is_in_use()? {
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(true)
}

/// Names of the suites all of whose tests were chosen.
fn complete_suites<'s>(suites: &'s [SuiteDescription], chosen: &BTreeSet<TestKey>) -> BTreeSet<&'s str> {
    let is_complete = |suite: &&SuiteDescription| {
        suite.tests.iter().all(|test| chosen.contains(&TestKey::new(&suite.id, &test.test)))
    };
    let (complete, partial): (Vec<_>, Vec<_>) = suites.iter().partition(is_complete);
    let partial: BTreeSet<&str> = partial.into_iter().map(|suite| suite.suite.as_str()).collect();
    complete.into_iter().map(|suite| suite.suite.as_str()).filter(|name| !partial.contains(name)).collect()
}
