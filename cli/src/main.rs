//! `cargo evalsuite`: checks evaluation suites, shows the code that they become, runs them, and looks after what runs leave.

mod calibrate;
mod check;
mod clean;
mod command_line;
mod expand;
mod finish;
mod merge;
mod place;
mod regrade;
mod run;
mod runs;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

use command_line::{Command, CommandLine};

fn main() -> ExitCode {
    // Cargo calls `cargo-evalsuite evalsuite …`; the program called by its own name does not repeat it.
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|argument| argument == "evalsuite") {
        arguments.remove(1);
    }
    let result = match CommandLine::parse_from(arguments).command {
        Command::Check(command) => check::run(&command),
        Command::Calibrate(command) => calibrate::run(&command),
        Command::Expand(command) => expand::run(&command),
        Command::Finish(command) => finish::run(&command),
        Command::Clean(command) => clean::run(&command),
        Command::Merge(command) => merge::run(&command),
        Command::Regrade(command) => regrade::run(&command),
        Command::Run(command) => run::run(&command),
    };
    match result {
        Ok(code) => code,
        // Nobody reads the rest, as in `… | head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        Err(error) => {
            let mut text = error.to_string();
            let mut source = error.source();
            while let Some(cause) = source {
                text.push_str(&format!(": {cause}"));
                source = cause.source();
            }
            anstream::eprintln!("error: {text}");
            ExitCode::FAILURE
        }
    }
}
