//! The process that starts workers, and goes on after an execution that ended one of them.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

use super::worker::{State, write_fatal};
use super::{Job, Measured};

/// Longest time that a worker may spend on one execution. What it takes without waiting has a limit of its own.
const PATIENCE: Duration = Duration::from_secs(120);
/// Most memory of a worker in KiB: one that needs more would take the machine down.
const MEMORY: u64 = 4 << 20;
/// Deaths of workers after which a target is given up.
const DEATHS: usize = 20;

/// Runs a job with the worker program.
pub(crate) fn run(program: &Path, job: &Job) -> io::Result<Measured> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("state");
    let state = State::create(&file)?;
    let mut measured = Measured::default();
    let mut from = job.from;
    for _ in 0..DEATHS {
        state.write(super::worker::Numbers { index: from, ..Default::default() })?;
        // The shell sets a limit that the worker cannot take away; our crates have no unsafe code.
        let mut worker = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")])
            .arg(program)
            .args(["fuzz-worker", &job.target, &job.seed.to_string(), &from.to_string(), &job.to.to_string()])
            .arg(&job.findings)
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let lines = read(worker.stdout.take());
        let errors = read(worker.stderr.take());
        let (mut last, mut since) = (from, Instant::now());
        let problem = loop {
            if let Some(status) = worker.try_wait()? {
                break (!status.success()).then(|| format!("the process ended with {status}"));
            }
            let index = state.read()?.index;
            if index != last {
                (last, since) = (index, Instant::now());
            } else if since.elapsed() > PATIENCE {
                worker.kill()?;
                worker.wait()?;
                break Some(format!("did not end within {} s", PATIENCE.as_secs()));
            }
            thread::sleep(Duration::from_millis(20));
        };
        let numbers = state.read()?;
        measured.executions += numbers.index - from;
        measured.longest_us = measured.longest_us.max(numbers.longest_us);
        measured.largest = measured.largest.max(numbers.largest);
        let text = |thread: thread::JoinHandle<String>| thread.join().unwrap_or_default();
        measured.findings.extend(text(lines).lines().map(str::to_owned));
        let errors = text(errors);
        let Some(problem) = problem else { return Ok(measured) };
        let said = errors.lines().last().unwrap_or_default();
        measured.findings.push(write_fatal(job, numbers.index, &format!("{problem} {said}"))?);
        from = numbers.index + 1;
    }
    measured.findings.push(format!("{}: given up after {DEATHS} deaths", job.target));
    Ok(measured)
}

fn read(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        // What a dying worker said until then is enough.
        let _ = stream.map(|mut stream| stream.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    })
}
