//! `cargo evalsuite expand`.

use std::io;
use std::io::Write;
use std::process::ExitCode;

use evalsuite_build::Generator;
use evalsuite_build::expansion::Context;

use crate::command_line::Expand;
use crate::suite_request;

pub(crate) fn run(command: &Expand) -> io::Result<ExitCode> {
    let mut context = Context::new(suite_request::request(&command.path)?);
    // Without `--grader` the graders of the suite are not known, so none is missing. Judges cannot be listed.
    context.all_graders_listed = !command.graders.is_empty();
    context.all_judges_listed = false;
    let (expansion, code) = generator(command, &context.request.entry).expand(&context);
    for problem in expansion.problems() {
        anstream::eprintln!("{}\n", problem.text());
    }
    if expansion.has_errors() {
        return Ok(ExitCode::FAILURE);
    }
    io::stdout().lock().write_all(code.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn generator(command: &Expand, entry: &str) -> Generator {
    let mut generator = evalsuite_build::generate(entry);
    generator = match command.agent.as_deref() {
        Some("none") => generator.no_agent(),
        Some(path) => generator.agent(path),
        None => generator,
    };
    for grader in &command.graders {
        generator = match grader.split_once("=>") {
            Some((name, path)) => generator.grader(name.trim().trim_matches('"'), path.trim()),
            None => generator.graders([grader]),
        };
    }
    match &command.name {
        Some(name) => generator.name(name),
        None => generator,
    }
}
