//! What commands print, and the progress of work that takes long.

use std::env;
use std::fmt::Arguments;
use std::io::{self, IsTerminal, StdoutLock, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anstream::AutoStream;
use crossterm::terminal;
use evalsuite_records::summary::TextTable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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

/// How long work takes before its progress is shown.
const DELAY: Duration = Duration::from_secs(1);
/// Time between two steps of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// Whether progress is shown: standard error is a terminal that can move its cursor.
pub(crate) fn is_live() -> bool {
    io::stderr().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The progress of some work, on standard error until it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The thread that shows the bar after a delay, and what ends the thread when it is dropped.
    delayed: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins work, named by what is done: `copying files`.
    pub(crate) fn start(what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_message(what);
        bar.set_style(style("{spinner} {msg} ({elapsed})"));
        if !is_live() {
            return Self { bar, delayed: None };
        }
        let (end, ended) = channel();
        let shown = bar.clone();
        let thread = thread::spawn(move || {
            if ended.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        Self { bar, delayed: Some((end, thread)) }
    }

    /// Begins a part of the work that takes this number of steps.
    pub(crate) fn set_steps(&self, what: &'static str, steps: usize) {
        self.bar.set_message(what);
        self.bar.set_length(u64::try_from(steps).unwrap_or(u64::MAX));
        self.bar.set_style(style("{spinner} {msg} {pos}/{len} ({elapsed})"));
    }

    /// A step is done.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.delayed.take() {
            drop(end);
            // A thread that panicked shows nothing.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template of this file is valid")
}
