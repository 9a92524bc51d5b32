//! `cargo evalsuite`: checks, expands and runs evaluation suites, and manages the records of their runs.

mod command_line;
mod comparing;
mod keeping;
mod locate;
mod looking;
mod platform;
mod plumbing;
mod running;
mod writing;

use std::process::ExitCode;

use clap::Parser;

use self::command_line::{Command, CommandLine};

fn main() -> ExitCode {
    // Cargo runs `cargo-evalsuite evalsuite …`; called directly, the program does not get the second word.
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|argument| argument == "evalsuite") {
        arguments.remove(1);
    }
    let result = match CommandLine::parse_from(arguments).command {
        Command::Writing(command) => writing::run(&command),
        Command::Running(command) => running::run(&command),
        Command::Looking(command) => looking::run(&command),
        Command::Comparing(command) => comparing::run(&command),
        Command::Keeping(command) => keeping::run(&command),
        Command::Plumbing(command) => plumbing::run(&command),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => error.print().into(),
    }
}
