//! Baselines: the accepted results of suites, as files under version control.

mod as_run;
mod comparison;

use std::io;
use std::path::Path;

use evalsuite_records::file_replacement::error_at;
use evalsuite_records::package_file::{LARGEST_BASELINE, read_package_file_if_exists};
use evalsuite_records::record::{AcceptedAnswers, Baseline, BaselineError};

pub use self::as_run::trials_of_baselines;
pub use self::comparison::answer_pairs_with_accepted;

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

fn read<T>(file: &Path, parse: fn(&str) -> Result<T, BaselineError>) -> io::Result<Option<T>> {
    let invalid = |error: String| io::Error::new(io::ErrorKind::InvalidData, error);
    let read = || {
        let Some(bytes) = read_package_file_if_exists(file, LARGEST_BASELINE)? else { return Ok(None) };
        let text = String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?;
        parse(&text).map(Some).map_err(|error| invalid(error.to_string()))
    };
    read().map_err(|error| error_at(file, &error))
}

/// Four places: more would be noise in reviews.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
