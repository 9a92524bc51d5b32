//! One record file, which may be missing or torn.

use std::io;
use std::io::Read;
use std::path::Path;

use evalsuite::record::run_directory::open_run_file;
use serde::de::DeserializeOwned;

use super::Problem;

/// Largest record, in bytes.
const LARGEST: u64 = 256 << 20;

/// Reads a record below the run directory. `None` if it does not exist, or if it is not such a record: then the problem is added.
pub(crate) fn read_record<T: DeserializeOwned>(run: &Path, file: &Path, problems: &mut Vec<Problem>) -> Option<T> {
    let message = match read(run, file) {
        Ok(bytes) => match evalsuite_schema::json::from_slice(&bytes) {
            Ok(record) => return Some(record),
            Err(error) => error.to_string(),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => error.to_string(),
    };
    problems.push(Problem::new(run, file, message));
    None
}

/// The bytes of a file of a run.
fn read(run: &Path, file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_run_file(run, file.strip_prefix(run).unwrap_or(file))?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        0..=LARGEST => Ok(bytes),
        _ => Err(io::Error::other(format!("it has more than {LARGEST} bytes"))),
    }
}

impl Problem {
    pub(crate) fn new(run: &Path, file: &Path, message: impl Into<String>) -> Self {
        let relative = file.strip_prefix(run).unwrap_or(file);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        Self { file: parts.join("/"), message: message.into() }
    }
}
