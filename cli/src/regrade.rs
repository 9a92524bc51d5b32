//! `cargo evalsuite regrade`.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;
use evalsuite::tooling::run_id_or_new;
use evalsuite_records::run_directory::{LATEST, OutputDirectory};
use schemars::JsonSchema;
use serde::Serialize;

use crate::arguments::OutputFormat;
use crate::finish::{self, EndedRun};
use crate::locate::stored_runs;
use crate::platform::cargo_process::{CARGO_FAILED, cargo, exit};
use crate::platform::exit_status::{CliError, CommandStatus, ErrorContext, Result};
use crate::platform::output::{print_json, stdout};

/// Grade the recorded results of a run again, without calling agents
///
/// Runs the tests with `EVALSUITE_REGRADE`, because graders in Rust are compiled into them. Exit status: 0 if all tests pass, 1 if some
/// fail or a case has no record, 2 if they cannot be built or the run does not exist.
#[derive(Debug, Args)]
pub(crate) struct Regrade {
    /// Run: its id, its directory, or `latest` for the newest trials of every case
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Run the tests with `cargo nextest run`
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Output format; with `json`, the output of the tests goes to standard error
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
    /// Arguments for `cargo test` or `cargo nextest run`
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
}

/// Evidence of an earlier run that was graded again.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RegradedRun {
    /// Name and version of this format.
    #[schemars(extend("const" = "evalsuite.regrade/1"))]
    schema: &'static str,
    /// Id of the run whose evidence was graded, or `latest`.
    regraded: String,
    /// Whether all tests passed.
    tests_passed: bool,
    /// The run with the new results, as `finish --format json` prints it; `null` if nothing was recorded.
    run: Option<EndedRun>,
}

/// Runs the tests, which contain the graders, on the evidence of an earlier run.
pub(crate) fn run(command: &Regrade) -> Result<CommandStatus> {
    let run = stored_runs::find(&command.run)?;
    let mut tests = cargo_tests(command);
    tests.args(&command.arguments);
    // `latest` is not one run but the newest trials of each case.
    let regraded = if command.run == LATEST { LATEST.to_owned() } else { run.id() };
    // The tests look for the run in the directory they write to.
    let output = match run.path().parent().and_then(Path::parent) {
        Some(output) => std::path::absolute(output)?,
        None => stored_runs::output_path()?,
    };
    // All test programs write to one run.
    let id = run_id_or_new(None);
    tests
        .env("EVALSUITE_REGRADE", &regraded)
        .env_remove("EVALSUITE_MODE")
        .env("EVALSUITE_RUN_ID", &id)
        .env("EVALSUITE_OUTPUT", &output);
    if command.format == OutputFormat::Json {
        tests.stdout(io::stderr());
    }
    let status = tests.status().of(&tests)?;
    let is_built = match command.nextest {
        // Nextest's code for a failed build is cargo's for failed tests.
        true => status.code() != Some(CARGO_FAILED),
        // Cargo's code for failed tests and for a failed build is the same.
        false => {
            let mut build = cargo_tests(command);
            build.arg("--no-run").args(&command.arguments).stdout(Stdio::null()).stderr(Stdio::null());
            status.success() || build.status()?.success()
        }
    };
    if !is_built {
        return Err(CliError::printed());
    }
    let new = OutputDirectory::new(output).run_directory(&id);
    let (run, end) =
        if new.is_dir() { finish::finish(&new, command.format, false)? } else { (None, CommandStatus::Good) };
    if command.format == OutputFormat::Json {
        let result = RegradedRun { schema: "evalsuite.regrade/1", regraded, tests_passed: status.success(), run };
        print_json(&mut stdout(), &result)?;
    }
    // A test program may end with status 0 before its tests do.
    let is_lost = status.success() && end == CommandStatus::Problems;
    Ok(if is_lost { end } else { exit(status) })
}

fn cargo_tests(command: &Regrade) -> Command {
    let mut tests = cargo();
    if command.nextest {
        tests.args(["nextest", "run"]);
    } else {
        tests.arg("test");
    }
    tests.arg("--no-fail-fast");
    tests
}
