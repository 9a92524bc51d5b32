//! `cargo evalsuite`: checks, expands and runs evaluation suites, and manages the records of their runs.
//!
//! A library only so that the tests of this package can depend on it with all features. It is not an interface.
#![cfg_attr(docsrs, feature(doc_cfg))]

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
#[cfg(not(all(feature = "convert", feature = "judge", feature = "lsp", feature = "watch")))]
use self::platform::cli_error::CliError;

/// Runs the command line of this process.
#[doc(hidden)]
#[must_use]
pub fn main() -> ExitCode {
    // Cargo runs `cargo-evalsuite evalsuite …`; called directly, the program does not get the second word.
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|argument| argument == "evalsuite") {
        arguments.remove(1);
    }
    let result = match CommandLine::parse_from(arguments).command {
        Command::New(command) => writing::new::run(&command),
        Command::Check(command) => writing::check::run(&command),
        Command::Explain(command) => writing::explain::run(&command),
        #[cfg(feature = "convert")]
        Command::Convert(command) => writing::convert::run(&command),
        #[cfg(not(feature = "convert"))]
        Command::Convert(_) => Err(CliError::without_feature("convert")),
        Command::Run(command) => running::run::run(&command),
        #[cfg(feature = "watch")]
        Command::Watch(command) => running::watch::run(&command),
        #[cfg(not(feature = "watch"))]
        Command::Watch(_) => Err(CliError::without_feature("watch")),
        Command::Regrade(command) => running::regrade::run(&command),
        #[cfg(feature = "judge")]
        Command::Calibrate(command) => running::calibrate::run(&command),
        #[cfg(not(feature = "judge"))]
        Command::Calibrate(_) => Err(CliError::without_feature("judge")),
        Command::Probe(command) => running::probe::run(&command),
        Command::List(command) => looking::list::run(&command),
        Command::Show(command) => looking::show::run(&command),
        Command::Report(command) => looking::report::run(&command),
        Command::Health(command) => looking::health::run(&command),
        Command::Diff(command) => comparing::diff::run(&command),
        Command::Gate(command) => comparing::gate::run(&command),
        Command::Accept(command) => comparing::accept::run(&command),
        Command::Finish(command) => keeping::finish::run(&command),
        Command::Merge(command) => keeping::merge::run(&command),
        Command::Clean(command) => keeping::clean::run(&command),
        #[cfg(feature = "lsp")]
        Command::Lsp(_) => plumbing::lsp::run(),
        #[cfg(not(feature = "lsp"))]
        Command::Lsp(_) => Err(CliError::without_feature("lsp")),
        Command::Expand(command) => plumbing::expand::run(&command),
        Command::Schema(command) => plumbing::schema::run(&command),
        Command::Completions(command) => plumbing::shell_files::print_completions(&command),
        Command::Man(command) => plumbing::shell_files::write_man_pages(&command),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => error.print().into(),
    }
}
