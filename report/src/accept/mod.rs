//! What becomes of baselines when a run is accepted.

mod accepted;
mod populations;
mod red_builds;
mod text;

use std::path::Path;
use std::{fs, io};

use evalsuite_records::file_replacement::error_at;
use evalsuite_records::package_file::LARGEST_BASELINE;
use evalsuite_records::record::{AcceptedAnswers, Baseline};
use evalsuite_records::user_file::replace_user_text;

pub use self::accepted::{Accepted, AcceptedCase, Decision, accept, accept_answers};
pub use self::red_builds::RedBuilds;

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

fn write(file: &Path, text: &str) -> io::Result<()> {
    let written = match text.len() as u64 > LARGEST_BASELINE {
        true => Err(io::Error::other(format!("it has more than {LARGEST_BASELINE} bytes"))),
        false => file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| replace_user_text(file, text)),
    };
    written.map_err(|error| error_at(file, &error))
}
