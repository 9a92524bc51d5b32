//! `cargo evalsuite`: checks, expands and runs evaluation suites, and manages the records of their runs.

mod command_line;
mod keeping;
mod locate;
mod looking;
mod platform;
mod plumbing;
mod running;
mod writing;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

use self::command_line::{Command, CommandLine};
use self::keeping::{clean, finish, merge};
use self::looking::{accept, diff, gate, health, list, report, show};
use self::platform::exit_status::CANNOT_WORK;
use self::plumbing::{completions, lsp, man, schema};
use self::running::{calibrate, regrade, run, watch};
use self::writing::{check, convert, expand, explain, new};

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
