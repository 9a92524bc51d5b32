//! `cargo evalsuite`: checks, expands and runs evaluation suites, and manages the records of their runs.

mod accept;
mod baselines;
mod calibrate;
mod cargo_process;
mod check;
mod clean;
mod command_line;
mod diff;
mod expand;
mod explain;
mod finish;
mod gate;
mod includes;
mod merge;
mod regrade;
mod report;
mod run;
mod show;
mod stored_runs;
mod suite_request;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

use self::command_line::{Command, CommandLine};

fn main() -> ExitCode {
    // Cargo runs `cargo-evalsuite evalsuite …`; called directly, the program does not get the second word.
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|argument| argument == "evalsuite") {
        arguments.remove(1);
    }
    let command = CommandLine::parse_from(arguments).command;
    // Of these, 1 says that the run is worse than it may be.
    let failure = match command {
        Command::Accept(_) | Command::Diff(_) | Command::Gate(_) => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    };
    let result = match command {
        Command::Accept(command) => accept::run(&command),
        Command::Check(command) => check::run(&command),
        Command::Calibrate(command) => calibrate::run(&command),
        Command::Diff(command) => diff::run(&command),
        Command::Expand(command) => expand::run(&command),
        Command::Explain(command) => explain::run(&command),
        Command::Finish(command) => finish::run(&command),
        Command::Gate(command) => gate::run(&command),
        Command::Clean(command) => clean::run(&command),
        Command::Merge(command) => merge::run(&command),
        Command::Regrade(command) => regrade::run(&command),
        Command::Report(command) => report::run(&command),
        Command::Show(command) => show::run(&command),
        Command::Run(command) => run::run(&command),
    };
    match result {
        Ok(code) => code,
        // The reader has stopped reading, as in `… | head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        Err(error) => {
            let mut text = error.to_string();
            let mut source = error.source();
            while let Some(cause) = source {
                text.push_str(&format!(": {cause}"));
                source = cause.source();
            }
            anstream::eprintln!("error: {text}");
            failure
        }
    }
}
