//! What commands print.

use std::fmt::Arguments;
use std::io::{self, IsTerminal, StdoutLock, Write};

use anstream::AutoStream;
use crossterm::terminal;
use evalsuite_records::summary::TextTable;
use serde::Serialize;

use crate::arguments::OutputFormat;

/// Standard output. A reader that has stopped reading, as in `… | head`, is no error: the command goes on to its end and its status.
pub(crate) fn stdout() -> impl Write {
    Stdout(AutoStream::auto(io::stdout().lock()))
}

struct Stdout(AutoStream<StdoutLock<'static>>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).or_else(|error| without_reader(error, bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().or_else(|error| without_reader(error, ()))
    }
}

/// The result of writing to a closed reader is success; any other error is kept.
pub(crate) fn without_reader<T>(error: io::Error, written: T) -> io::Result<T> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(written) } else { Err(error) }
}

/// Prints a line to standard error, whether or not somebody reads it.
macro_rules! say {
    ($($text:tt)*) => { crate::platform::output::write_error_line(format_args!($($text)*)) };
}
pub(crate) use say;

pub(crate) fn write_error_line(text: Arguments<'_>) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Prints a result: as indented JSON, or as the text that `write_text` writes.
pub(crate) fn print(
    format: OutputFormat,
    result: &impl Serialize,
    write_text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = stdout();
    match format {
        OutputFormat::Human => write_text(&mut out)?,
        OutputFormat::Json => print_json(&mut out, result)?,
    }
    out.flush()
}

/// Prints a value as indented JSON.
pub(crate) fn print_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

/// The width of the terminal, or that of files and pipes.
pub(crate) fn width() -> usize {
    if !io::stdout().is_terminal() {
        return TextTable::USUAL_WIDTH;
    }
    match terminal::size() {
        // A terminal that does not know its size says 0.
        Ok((columns @ 1.., _)) => columns.into(),
        _ => TextTable::USUAL_WIDTH,
    }
}
