//! `cargo evalsuite run`: the tests of chosen cases, and the end of their run.

mod choice;
mod described;
mod runner;

use std::io;
use std::process::ExitCode;

use evalsuite::tooling::run_id;

use crate::command_line::Run;
use crate::{finish, runs};

use choice::Chosen;

pub(crate) fn run(command: &Run) -> io::Result<ExitCode> {
    let suites = match described::suites(command)? {
        Ok(suites) => suites,
        Err(code) => return Ok(code),
    };
    let tests = match choice::tests(command, &suites) {
        Chosen::Tests(tests) => tests,
        Chosen::Nothing(why) => {
            anstream::eprintln!("error: {why}");
            return Ok(ExitCode::FAILURE);
        }
    };
    let root = runs::output_root()?;
    let given = std::env::var("EVALSUITE_RUN_ID").ok().filter(|id| !id.is_empty());
    let id = run_id(given.as_deref());
    let status = runner::tests(command, &tests)
        .env("EVALSUITE_RUN_ID", &id)
        // Tests work in the directories of their packages: for them a relative path would be another one.
        .env("EVALSUITE_OUTPUT", &root)
        .status()?;
    let run = root.join("runs").join(&id);
    // What cannot be built leaves none.
    if run.is_dir() {
        finish::end(&run)?;
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
