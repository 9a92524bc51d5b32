//! One record file, which may be missing or torn.

use std::path::Path;

use evalsuite_records::run_directory::read_run_record;
use serde::de::DeserializeOwned;

use super::Problem;

/// Reads a record below the run directory. `None` if it does not exist, or if it is not such a record: then the problem is added.
pub(crate) fn read_record<T: DeserializeOwned>(run: &Path, file: &Path, problems: &mut Vec<Problem>) -> Option<T> {
    read_run_record(run, file).unwrap_or_else(|error| {
        problems.push(Problem::new(run, file, error.to_string()));
        None
    })
}

impl Problem {
    pub(crate) fn new(run: &Path, file: &Path, message: impl Into<String>) -> Self {
        let relative = file.strip_prefix(run).unwrap_or(file);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        Self { file: parts.join("/"), message: message.into() }
    }
}
