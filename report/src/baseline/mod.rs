//! Baselines: the accepted results of suites, as files under version control.

mod accepted;
mod as_run;
mod text;

use std::path::Path;
use std::{fs, io, process};

use evalsuite_schema::record::Baseline;

pub use self::accepted::{Accepted, AcceptedCase, Decision, accept};
pub(crate) use self::as_run::as_run;

/// Reads the baseline of a suite; `None` if there is no such file. [`evalsuite::record::baseline_file`] says where it is.
///
/// # Errors
///
/// If the file cannot be read, or is not a baseline; the error names the line.
pub fn read_baseline(file: &Path) -> io::Result<Option<Baseline>> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    match fs::read_to_string(file) {
        Ok(text) => {
            Baseline::parse(&text).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, at(&error)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io::Error::new(error.kind(), at(&error))),
    }
}

/// Writes the baseline of a suite. Readers see the old file or the new one.
///
/// # Errors
///
/// If the file cannot be written; the old one is then unchanged.
pub fn write_baseline(file: &Path, baseline: &Baseline) -> io::Result<()> {
    let temporary = file.with_extension(format!("{}.tmp", process::id()));
    let write = || {
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&temporary, baseline.to_text())?;
        fs::rename(&temporary, file)
    };
    write().map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}
