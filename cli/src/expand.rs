//! `cargo evalsuite expand`.

use std::io::{self, Write};
use std::process::ExitCode;

use evalsuite_build::expansion::{self, Options};
use evalsuite_build::generate::{Binding, source};

use crate::command_line::Expand;
use crate::place;

pub(crate) fn run(command: &Expand) -> io::Result<ExitCode> {
    let binding = binding(command);
    let mut options = Options::new(place::request(&command.path)?);
    options.name.clone_from(&command.name);
    options.bound = binding.has_tests();
    // Without a list nothing is known about registered graders, so none is missing. Of judges there is no list.
    options.graders = (!command.graders.is_empty()).then(|| binding.names());
    options.judges = None;
    let mut expansion = expansion::expand(&options);
    let code = source(&options, &mut expansion, &binding);
    for warning in &expansion.warnings {
        anstream::eprintln!("{warning}\n");
    }
    for error in &expansion.errors {
        anstream::eprintln!("{error}\n");
    }
    if expansion.errors.is_empty() {
        io::stdout().lock().write_all(code.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    } else {
        Ok(ExitCode::FAILURE)
    }
}

fn binding(command: &Expand) -> Binding {
    let mut binding = Binding::default();
    match command.agent.as_deref() {
        Some("none") => binding.no_agent(),
        Some(path) => binding.agent(path),
        None => {}
    }
    for grader in &command.graders {
        match grader.split_once("=>") {
            Some((name, path)) => binding.named_grader(name.trim().trim_matches('"'), path.trim()),
            None => binding.grader(grader),
        }
    }
    binding
}
