//! Test programs that run, and what they print about the tests.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;

use evalsuite::tooling::{NEW_CASES, run_id_or_new};

use super::programs::{NewTests, Program};
use super::suites::{Suites, Touched};
use super::verdicts::{Event, TestId, Verdict};
use crate::platform::test_output::{TestResult, skipped_test, test_result};

/// The command for tests that a program has. `is_changed`: files of suites are not as the program was built.
pub(super) fn existing_tests(program: &Program, tests: &[(String, Touched)], is_changed: bool) -> Command {
    let names = tests.iter().map(|(test, _)| test.as_str());
    let mut command = program.command(["--exact"].into_iter().chain(names));
    if is_changed {
        command.env("EVALSUITE_RELOAD", "1");
    } else {
        command.env_remove("EVALSUITE_RELOAD");
    }
    command
}

/// The command for tests that a program does not have; the tests `suite_check` of their suites run them.
pub(super) fn new_tests(program: &Program, new: &NewTests, suites: &Suites) -> Command {
    let arguments = ["--exact", "--nocapture"].into_iter().chain(new.checks.iter().map(String::as_str));
    let mut command = program.command(arguments);
    let line = |(test, touched): &(String, Touched)| {
        let case = suites.case(touched)?;
        Some(format!("{test}\t{}\t{}", case.case.id, case.source))
    };
    command.env(NEW_CASES, new.tests.iter().filter_map(line).collect::<Vec<_>>().join("\n"));
    command
}

/// Starts tests of a program; what happens to them is sent as events. `index` is that of the process.
pub(super) fn start(
    mut command: Command,
    program: &Program,
    index: usize,
    events: &Sender<Event>,
) -> io::Result<Child> {
    command
        .env("EVALSUITE_RUN_ID", run_id_or_new(None))
        .env("EVALSUITE_OUTPUT", &program.output)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let of_output = TestEvents { program: Arc::clone(&program.id), events: events.clone() };
    let of_errors = of_output.clone();
    let errors = thread::spawn(move || stderr.into_iter().for_each(|stream| read_notices(stream, &of_errors)));
    thread::spawn(move || {
        stdout.into_iter().for_each(|stream| read_results(stream, &of_output));
        // A panic there leaves verdicts out, which `end_all` notices.
        let _ = errors.join();
        let _ = of_output.events.send(Event::ProgramEnded(index));
    });
    Ok(child)
}

/// Where events about the tests of a program are sent. The receiver is gone when `watch` ends.
#[derive(Debug, Clone)]
struct TestEvents {
    program: Arc<str>,
    events: Sender<Event>,
}

impl TestEvents {
    fn test(&self, test: &str) -> TestId {
        TestId { test: test.to_owned(), program: Arc::clone(&self.program) }
    }

    fn ended(&self, test: &str, verdict: Verdict) {
        let _ = self.events.send(Event::Ended(self.test(test), verdict));
    }

    fn failed(&self, failure: Option<(String, String)>) {
        if let Some((test, text)) = failure {
            let _ = self.events.send(Event::Failure(self.test(&test), text.trim_end().to_owned()));
        }
    }
}

/// The lines of a stream, to its end: what tests start writes to it, too, and need not be UTF-8.
fn lines(stream: impl Read) -> impl Iterator<Item = String> {
    let lines = BufReader::new(stream).split(b'\n').map_while(Result::ok);
    lines.map(|line| String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(&line)).into_owned())
}

/// Reads the lines that evalsuite prints past the test harness.
fn read_notices(stream: impl Read, events: &TestEvents) {
    for line in lines(stream) {
        if let Some(test) = skipped_test(&line) {
            events.ended(test, Verdict::Skipped);
        }
    }
}

/// Reads what libtest prints: a line per test, then the output of those that failed.
fn read_results(stream: impl Read, events: &TestEvents) {
    let mut failure: Option<(String, String)> = None;
    for line in lines(stream) {
        // The output of a failed test may have such lines, too.
        let result = if failure.is_none() { test_result(&line) } else { None };
        if let Some((test, result)) = result {
            let verdict = match result {
                TestResult::Passed => Verdict::Passed,
                TestResult::Failed => Verdict::Failed,
                TestResult::Ignored => Verdict::Skipped,
            };
            events.ended(test, verdict);
        } else if let Some(test) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            events.failed(failure.replace((test.to_owned(), String::new())));
        } else if line == "failures:" {
            events.failed(failure.take());
        } else if let Some((_, text)) = &mut failure {
            text.push_str(&line);
            text.push('\n');
        }
    }
    events.failed(failure);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn events_of(output: &[u8], errors: &[u8]) -> Vec<String> {
        let (sender, receiver) = mpsc::channel();
        let events = TestEvents { program: "shop::evals".into(), events: sender };
        read_results(output, &events);
        read_notices(errors, &events);
        drop(events);
        let shown = |event| match event {
            Event::Ended(test, verdict) => format!("{} {}", test.test, verdict.word()),
            Event::Failure(test, text) => format!("{}: {text}", test.test),
            _ => panic!("another event"),
        };
        receiver.into_iter().map(shown).collect()
    }

    #[test]
    fn verdicts_and_the_texts_of_failures_are_read() {
        let output = "\nrunning 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... ignored, slow\n\nfailures:\n\n\
                      ---- c stdout ----\nevaluation failed: c\n  reason\n\n\nfailures:\n    c\n\ntest result: FAILED.\n";
        let lines = events_of(output.as_bytes(), b"evalsuite: SKIPPED e::f: needs a judge\nnoise\n");
        assert_eq!(
            lines,
            ["a::b passed", "c FAILED", "d skipped", "c: evaluation failed: c\n  reason", "e::f skipped"]
        );
    }

    #[test]
    fn a_result_in_the_output_of_a_failed_test_is_a_part_of_its_text() {
        let output = b"test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nran test a ... FAILED\ntest a ... FAILED\n\nfailures:\n    b\n";
        assert_eq!(events_of(output, b""), ["a passed", "b FAILED", "b: ran test a ... FAILED\ntest a ... FAILED"]);
    }

    #[test]
    fn what_programs_write_that_tests_start_hides_no_verdict() {
        let output = b"r\xe9sum\xe9\ntest a ... ok\n50 %test b ... FAILED\n\nfailures:\n\n---- b stdout ----\ncaf\xe9\n\nfailures:\n    b\n";
        let errors = b"caf\xe9\nevalsuite: SKIPPED c: needs a judge\n";
        assert_eq!(events_of(output, errors), ["a passed", "b FAILED", "b: caf\u{fffd}", "c skipped"]);
    }
}
