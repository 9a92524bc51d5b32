//! `cargo evalsuite schema`.

use std::io;
use std::io::Write;
use std::process::ExitCode;

use evalsuite_loader::keys::{FILES, json_schema};
use evalsuite_loader::suggest;
use evalsuite_report::JSON_SCHEMAS;

use crate::CANNOT_WORK;
use crate::command_line::Schema;

/// Prints the schema of a kind of file or output, or the list of kinds.
pub(crate) fn run(command: &Schema) -> io::Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    let outputs = JSON_SCHEMAS.iter().map(|(kind, _)| *kind);
    let kinds: Vec<&str> = FILES.iter().map(|(kind, _)| *kind).chain(outputs).collect();
    let Some(kind) = &command.kind else {
        for kind in kinds {
            writeln!(out, "{kind}")?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    if let Some((_, schema)) = JSON_SCHEMAS.iter().find(|(name, _)| name == kind) {
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
