//! `cargo evalsuite schema`.

use std::io;
use std::io::Write;
use std::process::ExitCode;

use evalsuite_loader::keys::{FILES, json_schema};
use evalsuite_loader::suggest;

use crate::command_line::Schema;
use crate::{CANNOT_WORK, json_output};

/// Prints the schema of a kind of file or output, or the list of kinds.
pub(crate) fn run(command: &Schema) -> io::Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    let kinds: Vec<&str> = FILES.iter().map(|(kind, _)| *kind).chain(json_output::kinds()).collect();
    let Some(kind) = &command.kind else {
        for kind in kinds {
            writeln!(out, "{kind}")?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(schema) = json_output::schema_of(kind)? {
        write!(out, "{schema}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(schema) = json_schema(kind) else {
        anstream::eprintln!("error: `{kind}` is not a kind of file");
        anstream::eprintln!("help: {}", suggest::did_you_mean_or_known(kind, &kinds));
        return Ok(ExitCode::from(CANNOT_WORK));
    };
    writeln!(out, "{schema:#}")?;
    Ok(ExitCode::SUCCESS)
}
