//! The output of a program, line by line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::platform::output::without_reader;

/// The lines that a program writes.
pub(super) struct ChildOutput(Receiver<OutputLine>);

/// A line with its line break; the last one may have none.
#[derive(Debug, PartialEq)]
pub(super) enum OutputLine {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
}

impl ChildOutput {
    /// The output of a program that was started with pipes.
    pub(super) fn of(child: &mut Child) -> Self {
        let (sender, receiver) = channel();
        if let Some(stdout) = child.stdout.take() {
            let sender = sender.clone();
            thread::spawn(move || send_lines(stdout, &sender, OutputLine::Stdout));
        }
        if let Some(stderr) = child.stderr.take() {
            thread::spawn(move || send_lines(stderr, &sender, OutputLine::Stderr));
        }
        Self(receiver)
    }

    /// The next line, if there is one within this time. A program that has ended may have left others that hold its pipes, so
    /// there may be no end of its output.
    pub(super) fn next_within(&self, limit: Duration) -> Option<OutputLine> {
        match self.0.recv_timeout(limit) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(limit);
                None
            }
        }
    }
}

impl OutputLine {
    /// Writes the line where the program would have written it.
    pub(super) fn write(&self) -> io::Result<()> {
        match self {
            Self::Stdout(line) => {
                let mut out = io::stdout().lock();
                out.write_all(line).and_then(|()| out.flush()).or_else(|error| without_reader(error, ()))
            }
            Self::Stderr(line) => io::stderr().lock().write_all(line).or_else(|error| without_reader(error, ())),
        }
    }
}

fn send_lines(output: impl Read, sender: &Sender<OutputLine>, line_of: fn(Vec<u8>) -> OutputLine) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        // A pipe that cannot be read has ended.
        let is_end = output.read_until(b'\n', &mut line).map_or(true, |count| count == 0);
        if is_end || sender.send(line_of(line)).is_err() {
            return;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn lines_keep_their_order_and_the_last_one_needs_no_line_break() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; printf two; echo three >&2"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = ChildOutput::of(&mut child);
        child.wait().unwrap();
        let mut lines = Vec::new();
        while let Some(line) = output.next_within(Duration::from_secs(5)) {
            lines.push(line);
            if lines.len() == 3 {
                break;
            }
        }
        lines.sort_by_key(|line| matches!(line, OutputLine::Stderr(_)));
        let [one, two, three] = [b"one\n".to_vec(), b"two".to_vec(), b"three\n".to_vec()];
        assert_eq!(lines, [OutputLine::Stdout(one), OutputLine::Stdout(two), OutputLine::Stderr(three)]);
    }
}
