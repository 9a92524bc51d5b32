//! Notes that outlive a turn: a line each in a file.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

/// The notes in a file, which need not exist.
#[derive(Debug)]
pub struct Memory(PathBuf);

impl Memory {
    /// The notes in this file.
    pub fn in_file(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Adds a note.
    pub fn remember(&self, note: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0)?;
        writeln!(file, "{}", note.replace('\n', " "))
    }

    /// All notes, a line each.
    pub fn notes(&self) -> io::Result<String> {
        match fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            read => read,
        }
    }
}
