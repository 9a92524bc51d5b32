//! `cargo evalsuite`: checks, expands and runs evaluation suites, and manages the records of their runs.
//!
//! A library only so that the tests of this package can depend on it with all features. It is not an interface.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod accept;
mod arguments;
mod baselines;
#[cfg(feature = "judge")]
mod calibrate;
mod check;
mod clean;
mod commands;
mod compared_runs;
mod completions;
#[cfg(feature = "convert")]
mod convert;
mod diff;
mod expand;
mod explain;
mod finish;
mod gate;
mod health;
mod lift;
mod list;
mod locate;
#[cfg(feature = "lsp")]
mod lsp;
mod man;
#[cfg(feature = "mcp")]
mod mcp_proxy;
mod merge;
mod new;
mod platform;
mod probe;
mod regrade;
mod report;
mod run;
mod schema;
mod show;
#[cfg(feature = "watch")]
mod watch;

use std::process::ExitCode;

use clap::Parser;

use self::commands::CommandLine;

/// Runs the command line of this process.
#[doc(hidden)]
#[must_use]
pub fn main() -> ExitCode {
    // Cargo runs `cargo-evalsuite evalsuite …`; called directly, the program does not get the second word.
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|argument| argument == "evalsuite") {
        arguments.remove(1);
    }
    match CommandLine::parse_from(arguments).run() {
        Ok(exit) => exit.into(),
        Err(error) => error.print().into(),
    }
}
