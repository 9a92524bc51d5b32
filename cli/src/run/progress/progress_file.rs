//! The file to which the tests append the steps of their cases.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use evalsuite::ProgressEvent;

use crate::platform::output::say;

/// Reads what is appended to a file of steps.
pub(super) struct ProgressFile {
    file: File,
    /// The beginning of a line that is not complete yet.
    rest: Vec<u8>,
    is_readable: bool,
}

impl ProgressFile {
    /// What is appended from now on; the file is created if it does not exist.
    pub(super) fn after(path: &Path) -> io::Result<Self> {
        let error = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut file = File::options().create(true).append(true).read(true).open(path).map_err(error)?;
        file.seek(SeekFrom::End(0)).map_err(error)?;
        Ok(Self { file, rest: Vec::new(), is_readable: true })
    }

    /// The steps since the last call. A file that cannot be read is reported, and has no further steps: the tests go on.
    pub(super) fn read(&mut self) -> Vec<ProgressEvent> {
        if !self.is_readable {
            return Vec::new();
        }
        self.try_read().unwrap_or_else(|error| {
            say!("warning: progress is no longer shown: {error}");
            self.is_readable = false;
            Vec::new()
        })
    }

    fn try_read(&mut self) -> io::Result<Vec<ProgressEvent>> {
        self.file.read_to_end(&mut self.rest)?;
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Ok(Vec::new()) };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        let events = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        events.map(|line| evalsuite_schema::json::from_slice(line).map_err(io::Error::from)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn steps_are_read_once_their_line_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("progress.jsonl");
        fs::write(&path, "of an earlier run\n").unwrap();
        let mut read = ProgressFile::after(&path).unwrap();
        let mut file = File::options().append(true).open(&path).unwrap();
        let step = |test: &str| {
            format!(
                "{{\"suite\":\"s\",\"test_name\":\"{test}\",\"case_id\":\"a\",\"target\":\"t\",\"trials\":1,\
                 \"step\":{{\"case_started\":{{}}}}}}\n"
            )
        };
        assert_eq!(read.read(), []);
        let (first, second) = (step("s::a"), step("s::b"));
        let (begin, end) = second.split_at(20);
        write!(file, "{first}{begin}").unwrap();
        let names = |events: Vec<ProgressEvent>| -> Vec<String> { events.into_iter().map(|e| e.test_name).collect() };
        assert_eq!(names(read.read()), ["s::a"]);
        write!(file, "{end}").unwrap();
        assert_eq!(names(read.read()), ["s::b"]);
        writeln!(file, "broken").unwrap();
        assert!(read.try_read().is_err());
    }
}
