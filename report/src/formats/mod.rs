//! Runs in the formats of other programs: a table, and a file or folder for each of them.

mod annotations;
mod ids;
mod inspect;
mod junit;
mod markdown;
mod otel;
mod skill_benchmark;
mod steps;
mod summary_json;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use evalsuite_records::file_replacement::{error_at, replace_user_file};

use crate::run_data::{Problem, RunData};

pub(crate) use self::ids::trial_path;
pub use self::inspect::{InspectFormat, InspectLog, inspect_logs};
pub use self::otel::otel;
pub use self::steps::content_text;
pub(crate) use self::steps::input_messages;

/// A format in which a run is written for other programs.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Format {
    /// Its name, as in `cargo evalsuite report --NAME PATH`.
    pub name: &'static str,
    /// What is written, for the help of that flag.
    pub about: &'static str,
    /// Where it is written to.
    pub destination: Destination,
    writer: Writer,
}

/// Where a format is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// Standard output.
    Output,
    /// A file.
    File,
    /// The end of a file: the steps of a CI job share that of its summary.
    EndOfFile,
    /// A directory.
    Directory,
    /// A file or a directory.
    FileOrDirectory,
}

type WriteText = fn(&RunData, &mut dyn Write) -> io::Result<Vec<Problem>>;
type WriteFiles = fn(&RunData, &Path) -> io::Result<Exported>;

/// What writes a format. Both return the files of the run that could not be read.
#[derive(Debug, Clone, Copy)]
enum Writer {
    /// One text.
    Text(WriteText),
    /// Files.
    Files(WriteFiles),
}

/// Files that were written.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Exported {
    /// The files of the run that could not be read.
    pub problems: Vec<Problem>,
    /// The files whose names the format has chosen.
    pub named: Vec<PathBuf>,
}

/// All formats, in the order of the help.
#[rustfmt::skip]
pub const FORMATS: &[Format] = &[
    annotations::FORMAT,
    junit::FORMAT,
    markdown::FORMAT,
    summary_json::FORMAT,
    inspect::FORMAT,
    otel::FORMAT,
    skill_benchmark::FORMAT,
];

impl Format {
    /// A format of one text.
    const fn of_text(name: &'static str, destination: Destination, write: WriteText, about: &'static str) -> Self {
        Self { name, about, destination, writer: Writer::Text(write) }
    }

    /// A format of several files, or of one that is no text.
    const fn of_files(name: &'static str, destination: Destination, write: WriteFiles, about: &'static str) -> Self {
        Self { name, about, destination, writer: Writer::Files(write) }
    }

    /// The format with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Writes a run to a file or directory.
    ///
    /// # Errors
    ///
    /// If a file cannot be written, or would have to hold more than one can; the error names it.
    pub fn write(&self, run: &RunData, path: &Path) -> io::Result<Exported> {
        let write = match self.writer {
            Writer::Files(write) => return write(run, path),
            Writer::Text(write) => write,
        };
        let problems = match self.destination {
            Destination::EndOfFile => {
                let opened = File::options().create(true).append(true).open(path);
                opened.and_then(|mut out| write(run, &mut out)).map_err(|error| error_at(path, &error))?
            }
            _ => file(path, |out| write(run, out))?,
        };
        Ok(Exported { problems, ..Exported::default() })
    }

    /// The run as text; `None` for a format that may consist of several files.
    ///
    /// # Errors
    ///
    /// If the text cannot be written.
    pub fn text(&self, run: &RunData) -> io::Result<Option<String>> {
        let Writer::Text(write) = self.writer else { return Ok(None) };
        let mut text = Vec::new();
        write(run, &mut text)?;
        String::from_utf8(text).map(Some).map_err(io::Error::other)
    }
}

/// Writes a file; errors name it.
fn file<T>(path: &Path, write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<T>) -> io::Result<T> {
    let written = replace_user_file(path, |file| {
        let mut out = BufWriter::new(file);
        let written = write(&mut out)?;
        out.flush()?;
        Ok(written)
    });
    written.map_err(|error| error_at(path, &error))
}
