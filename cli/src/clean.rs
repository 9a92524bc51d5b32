//! `cargo evalsuite clean`.

use std::io;
use std::io::Write;
use std::process::ExitCode;

use evalsuite::record::run_directory::OutputDirectory;

use crate::command_line::Clean;
use crate::{CANNOT_WORK, stored_runs};

pub(crate) fn run(command: &Clean) -> io::Result<ExitCode> {
    let output = OutputDirectory::new(stored_runs::output_path()?);
    let runs = output.runs_newest_first()?;
    let mut out = anstream::stdout().lock();
    let mut failed = false;
    let count = runs.len();
    let mut kept: Vec<String> = Vec::new();
    for (index, run) in runs.into_iter().enumerate() {
        let id = run.id();
        if index < command.keep || run.is_in_use()? {
            run.remove_temporary_files()?;
            kept.push(id);
            continue;
        }
        let path = run.path().to_owned();
        match run.remove() {
            Ok(()) => writeln!(out, "removed {}", path.display())?,
            Err(error) => {
                anstream::eprintln!("error: cannot remove {}: {error}", path.display());
                kept.push(id);
                failed = true;
            }
        }
    }
    let removed = count - kept.len();
    writeln!(out, "{removed} of {count} runs removed from {}", output.runs_directory().display())?;
    if output.latest()?.is_some_and(|latest| !kept.contains(&latest)) {
        output.set_latest(kept.first().map(String::as_str))?;
    }
    Ok(if failed { ExitCode::from(CANNOT_WORK) } else { ExitCode::SUCCESS })
}
