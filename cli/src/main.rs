//! `cargo evalsuite`: checks, expands and runs evaluation suites, and manages the records of their runs.

mod accept;
mod baselines;
mod calibrate;
mod cargo_process;
mod check;
mod clean;
mod command_line;
mod completions;
mod convert;
mod diff;
mod expand;
mod explain;
mod finish;
mod fixes;
mod gate;
mod health;
mod includes;
mod json_output;
mod line_width;
mod list;
mod lsp;
mod man;
mod merge;
mod merge_base;
mod new;
mod pager;
mod progress;
mod regrade;
mod report;
mod run;
mod sarif;
mod schema;
mod show;
mod stored_runs;
mod suite_request;
mod suite_search;
mod watch;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

use self::command_line::{Command, CommandLine};

/// Exit code of a command that could not do its work: the command line, a file or the environment is at fault.
pub(crate) const CANNOT_WORK: u8 = 2;

fn main() -> ExitCode {
    // Cargo runs `cargo-evalsuite evalsuite …`; called directly, the program does not get the second word.
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|argument| argument == "evalsuite") {
        arguments.remove(1);
    }
    let result = match CommandLine::parse_from(arguments).command {
        Command::Accept(command) => accept::run(&command),
        Command::Check(command) => check::run(&command),
        Command::Calibrate(command) => calibrate::run(&command),
        Command::Completions(command) => completions::run(&command),
        Command::Convert(command) => convert::run(&command),
        Command::Man(command) => man::run(&command),
        Command::Diff(command) => diff::run(&command),
        Command::Expand(command) => expand::run(&command),
        Command::Explain(command) => explain::run(&command),
        Command::Finish(command) => finish::run(&command),
        Command::Gate(command) => gate::run(&command),
        Command::Health(command) => health::run(&command),
        Command::Clean(command) => clean::run(&command),
        Command::List(command) => list::run(&command),
        Command::Lsp(_) => lsp::run(),
        Command::Merge(command) => merge::run(&command),
        Command::New(command) => new::run(&command),
        Command::Regrade(command) => regrade::run(&command),
        Command::Report(command) => report::run(&command),
        Command::Show(command) => show::run(&command),
        Command::Run(command) => run::run(&command),
        Command::Schema(command) => schema::run(&command),
        Command::Watch(command) => watch::run(&command),
    };
    match result {
        Ok(code) => code,
        // The reader has stopped reading, as in `… | head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::from(CANNOT_WORK),
        Err(error) => {
            let mut text = error.to_string();
            let mut source = error.source();
            while let Some(cause) = source {
                text.push_str(&format!(": {cause}"));
                source = cause.source();
            }
            anstream::eprintln!("error: {text}");
            ExitCode::from(CANNOT_WORK)
        }
    }
}
