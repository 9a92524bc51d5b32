//! `cargo evalsuite show`.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

use evalsuite_report::{Transcript, write_transcripts};

use crate::command_line::Show;

pub(crate) fn run(command: &Show) -> io::Result<ExitCode> {
    let mut transcripts = Vec::new();
    for file in &command.files {
        let text = fs::read(file).map_err(|error| at(file, error.kind(), &error))?;
        let transcript = Transcript::parse(file.display().to_string(), &text);
        transcripts.push(transcript.map_err(|error| at(file, io::ErrorKind::InvalidData, &error))?);
    }
    let page = &command.html;
    write_transcripts(&transcripts, page).map_err(|error| at(page, error.kind(), &error))?;
    writeln!(anstream::stdout().lock(), "{}", page.display())?;
    Ok(ExitCode::SUCCESS)
}

fn at(path: &Path, kind: io::ErrorKind, error: &dyn Error) -> io::Error {
    let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    io::Error::new(kind, format!("{}: {error}{cause}", path.display()))
}
