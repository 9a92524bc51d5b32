//! One record file, which may be missing or torn.

use std::path::Path;
use std::{fs, io};

use serde::de::DeserializeOwned;

use super::Problem;

/// Reads a record below the run directory. `None` if it does not exist, or if it is not such a record: then the problem is added.
pub(crate) fn read_record<T: DeserializeOwned>(run: &Path, file: &Path, problems: &mut Vec<Problem>) -> Option<T> {
    let message = match fs::read(file) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(record) => return Some(record),
            Err(error) => error.to_string(),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => error.to_string(),
    };
    problems.push(Problem::new(run, file, message));
    None
}

impl Problem {
    pub(crate) fn new(run: &Path, file: &Path, message: impl Into<String>) -> Self {
        let relative = file.strip_prefix(run).unwrap_or(file);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        Self { file: parts.join("/"), message: message.into() }
    }
}
