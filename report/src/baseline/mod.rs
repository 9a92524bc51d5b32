//! Baselines: the accepted results of suites, as files under version control.

mod accepted;
mod as_run;
mod populations;
mod red_builds;
mod text;

use std::path::Path;
use std::{fs, io};

use evalsuite_records::file_replacement::error_at;
use evalsuite_records::package_file::{LARGEST_BASELINE, read_package_file_if_exists};
use evalsuite_records::record::{AcceptedAnswers, Baseline, BaselineError};
use evalsuite_records::user_file::replace_user_text;

pub(crate) use self::accepted::rounded;
pub use self::accepted::{Accepted, AcceptedCase, Decision, accept, accept_answers};
pub use self::as_run::trials_of_baselines;
pub(crate) use self::as_run::{as_run, as_run_with_answers};
pub use self::red_builds::RedBuilds;

/// Reads the baseline of a suite; `None` if there is no such file. [`evalsuite_records::baseline::baseline_file`] says where it is.
///
/// # Errors
///
/// If the file cannot be read or is larger than 256 MiB, or is not a baseline; the error names the line.
pub fn read_baseline(file: &Path) -> io::Result<Option<Baseline>> {
    read(file, Baseline::parse)
}

/// Reads the accepted answers of a suite; `None` if there is no such file. [`evalsuite_records::baseline::accepted_answers_file`] says where it is.
///
/// # Errors
///
/// If the file cannot be read or is larger than 256 MiB, or has a line that is not an answer; the error names the line.
pub fn read_accepted_answers(file: &Path) -> io::Result<Option<AcceptedAnswers>> {
    read(file, AcceptedAnswers::parse)
}

/// Writes the baseline of a suite. Readers see the old file or the new one.
///
/// # Errors
///
/// If the file cannot be written; the old one is then unchanged.
pub fn write_baseline(file: &Path, baseline: &Baseline) -> io::Result<()> {
    write(file, &baseline.to_text())
}

/// Writes the accepted answers of a suite. Readers see the old file or the new one.
///
/// # Errors
///
/// If the file cannot be written or would be larger than 256 MiB; the old one is then unchanged.
pub fn write_accepted_answers(file: &Path, answers: &AcceptedAnswers) -> io::Result<()> {
    write(file, &answers.to_text())
}

fn read<T>(file: &Path, parse: fn(&str) -> Result<T, BaselineError>) -> io::Result<Option<T>> {
    let invalid = |error: String| io::Error::new(io::ErrorKind::InvalidData, error);
    let read = || {
        let Some(bytes) = read_package_file_if_exists(file, LARGEST_BASELINE)? else { return Ok(None) };
        let text = String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?;
        parse(&text).map(Some).map_err(|error| invalid(error.to_string()))
    };
    read().map_err(|error| error_at(file, &error))
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    let written = match text.len() as u64 > LARGEST_BASELINE {
        true => Err(io::Error::other(format!("it has more than {LARGEST_BASELINE} bytes"))),
        false => file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| replace_user_text(file, text)),
    };
    written.map_err(|error| error_at(file, &error))
}
