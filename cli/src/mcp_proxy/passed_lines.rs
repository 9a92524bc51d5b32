//! Lines on their way through the proxy: they are traced as whole lines, and passed on as they arrive.

use std::io::{self, BufRead};

use evalsuite::tooling::{Sender, TraceEvent, TracedMessage};

use super::trace_file::TraceFile;

/// Longest line that is traced completely, in bytes.
pub(super) const LONGEST_LINE: usize = 8 << 20;

/// The line that is arriving.
#[derive(Debug)]
pub(super) struct ArrivingLine {
    from: Sender,
    /// Its beginning.
    kept: Vec<u8>,
    length: u64,
}

impl ArrivingLine {
    pub(super) fn of(from: Sender) -> Self {
        Self { from, kept: Vec::new(), length: 0 }
    }

    /// Adds bytes without a line break.
    fn add(&mut self, bytes: &[u8]) {
        let room = LONGEST_LINE - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len() as u64;
    }

    /// Ends the line.
    fn take(&mut self) -> TracedMessage {
        let line = self.kept.strip_suffix(b"\r").unwrap_or(&self.kept);
        let mut message = TracedMessage::new(self.from, line);
        if self.length > self.kept.len() as u64 {
            message.cut = Some(self.length);
        }
        (self.kept, self.length) = (Vec::new(), 0);
        message
    }

    /// Traces the lines that end in a chunk.
    pub(super) fn trace(&mut self, chunk: &[u8], trace: &TraceFile) {
        let mut ended = Vec::new();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                Some(end) => {
                    self.add(end);
                    ended.push(TraceEvent::Message(self.take()));
                }
                None => self.add(piece),
            }
        }
        if !ended.is_empty() {
            trace.write_all(ended);
        }
    }

    /// Traces what came after the last line break.
    pub(super) fn end(mut self, trace: &TraceFile) {
        if self.length > 0 {
            trace.write(TraceEvent::Message(TracedMessage { unfinished: true, ..self.take() }));
        }
    }
}

/// Passes everything on until the sender leaves, in the chunks in which it arrives. A message is traced before its end is passed on. The error
/// is that of the receiver.
pub(super) fn pass_on(
    mut from: impl BufRead,
    sender: Sender,
    trace: &TraceFile,
    mut to: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut line = ArrivingLine::of(sender);
    while let Some(chunk) = next_chunk(&mut from) {
        line.trace(chunk, trace);
        to(chunk)?;
        let length = chunk.len();
        from.consume(length);
    }
    line.end(trace);
    Ok(())
}

/// Reads whole lines, and calls `with` for each, with its line break. A line that is too long, or has no end, is passed to `without` in parts.
pub(super) fn each_line(
    mut from: impl BufRead,
    mut with: impl FnMut(&[u8]) -> io::Result<()>,
    mut without: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut is_long = false;
    while let Some(chunk) = next_chunk(&mut from) {
        let length = chunk.len();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let is_end = piece.ends_with(b"\n");
            if is_long {
                without(piece)?;
                is_long = !is_end;
                continue;
            }
            line.extend_from_slice(piece);
            if is_end {
                with(&line)?;
                line.clear();
            } else if line.len() > LONGEST_LINE {
                without(&line)?;
                line.clear();
                is_long = true;
            }
        }
        from.consume(length);
    }
    if line.is_empty() { Ok(()) } else { without(&line) }
}

/// The next bytes; `None` at the end. A sender that cannot be read has left.
fn next_chunk(from: &mut impl BufRead) -> Option<&[u8]> {
    loop {
        match from.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    // The buffer is full, so this reads nothing.
    from.fill_buf().ok().filter(|chunk| !chunk.is_empty())
}
