//! Tests that run, and how they end.

use std::collections::BTreeMap;
use std::io;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use evalsuite::tooling::run_id_or_new;

use super::event::Event;
use super::programs::Program;
use super::suites::Touched;

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Running,
    Passed,
    Failed,
    Skipped,
    /// A Rust file has changed since.
    Outdated,
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
            Self::Outdated => "outdated",
        }
    }
}

/// The last result of a test.
#[derive(Debug, Clone)]
pub(super) struct LastResult {
    pub(super) verdict: Verdict,
    /// The one that is outdated, or the same.
    earlier: Verdict,
    pub(super) case: Touched,
    /// What it printed, if it failed.
    pub(super) text: String,
    /// Grows with every start of a test.
    pub(super) number: usize,
}

/// The last result of each test that has run.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    last: BTreeMap<String, LastResult>,
    started: usize,
}

impl Verdicts {
    pub(super) fn start(&mut self, tests: &[(String, Touched)]) {
        for (test, case) in tests {
            self.started += 1;
            let result = LastResult {
                verdict: Verdict::Running,
                earlier: Verdict::Running,
                case: case.clone(),
                text: String::new(),
                number: self.started,
            };
            self.last.insert(test.clone(), result);
        }
    }

    pub(super) fn end(&mut self, test: &str, verdict: Verdict) {
        if let Some(result) = self.last.get_mut(test)
            // The line about a skipped test comes before libtest counts it as passed.
            && result.earlier != Verdict::Skipped
        {
            result.earlier = verdict;
            // A Rust file may have changed while it ran.
            if result.verdict != Verdict::Outdated {
                result.verdict = verdict;
            }
        }
    }

    /// Every result is that of another program than the one that is built next.
    pub(super) fn outdate(&mut self) {
        self.last.values_mut().for_each(|result| result.verdict = Verdict::Outdated);
    }

    /// The results of cases whose program the build left as it was are those of the sources.
    pub(super) fn confirm(&mut self, is_unchanged: impl Fn(&Touched) -> bool) {
        let outdated = self.last.values_mut().filter(|result| result.verdict == Verdict::Outdated);
        outdated.filter(|result| is_unchanged(&result.case)).for_each(|result| result.verdict = result.earlier);
    }

    /// The cases whose last result is a failure, also an outdated one.
    pub(super) fn failed(&self) -> impl Iterator<Item = &Touched> {
        self.last.values().filter(|result| result.earlier == Verdict::Failed).map(|result| &result.case)
    }

    /// Whether a case has a result.
    pub(super) fn has_run(&self, case: &Touched) -> bool {
        self.last.values().any(|result| result.case == *case)
    }

    pub(super) fn fail(&mut self, test: &str, text: String) {
        if let Some(result) = self.last.get_mut(test) {
            result.text = text;
        }
    }

    /// Tests whose program ended without a word about them have failed.
    pub(super) fn end_all(&mut self) {
        for result in self.last.values_mut().filter(|result| result.verdict == Verdict::Running) {
            (result.verdict, result.earlier) = (Verdict::Failed, Verdict::Failed);
            result.text = "the test program ended before this test".to_owned();
        }
    }

    /// Forgets tests that do not exist any more.
    pub(super) fn retain(&mut self, exists: impl Fn(&Touched) -> bool) {
        self.last.retain(|_, result| exists(&result.case));
    }

    /// The newest first, running tests and failures before the others.
    pub(super) fn shown(&self) -> Vec<(&str, &LastResult)> {
        let mut all: Vec<(&str, &LastResult)> =
            self.last.iter().map(|(test, result)| (test.as_str(), result)).collect();
        let rank = |verdict: Verdict| match verdict {
            Verdict::Running => 0,
            Verdict::Failed => 1,
            Verdict::Passed | Verdict::Skipped | Verdict::Outdated => 2,
        };
        all.sort_by_key(|(_, result)| (rank(result.verdict), usize::MAX - result.number));
        all
    }

    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.last.values().filter(|result| result.verdict == verdict).count()
    }
}

/// Starts tests; what happens to them is sent as events. `index` is that of the program.
///
/// # Errors
///
/// If the program cannot be started.
pub(super) fn start(
    program: &Program,
    index: usize,
    tests: &[(String, Touched)],
    events: &Sender<Event>,
) -> io::Result<Child> {
    let names = tests.iter().map(|(test, _)| test.as_str());
    let mut command = program.command(["--exact"].into_iter().chain(names));
    command
        .env("EVALSUITE_RELOAD", "1")
        .env("EVALSUITE_RUN_ID", run_id_or_new(None))
        .env("EVALSUITE_OUTPUT", &program.output)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (of_output, of_errors) = (events.clone(), events.clone());
    let errors = thread::spawn(move || stderr.into_iter().for_each(|stream| read_notices(stream, &of_errors)));
    thread::spawn(move || {
        stdout.into_iter().for_each(|stream| read_results(stream, &of_output));
        // A panic there leaves verdicts out, which `end_all` notices.
        let _ = errors.join();
        let _ = of_output.send(Event::ProgramEnded(index));
    });
    Ok(child)
}

/// Reads the lines that evalsuite prints past the test harness.
fn read_notices(stream: impl Read, events: &Sender<Event>) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let skipped = line.strip_prefix("evalsuite: SKIPPED ").and_then(|rest| rest.split_once(": "));
        if let Some((test, _)) = skipped {
            let _ = events.send(Event::Ended(test.to_owned(), Verdict::Skipped));
        }
    }
}

/// Reads what libtest prints: a line per test, then the output of those that failed.
fn read_results(stream: impl Read, events: &Sender<Event>) {
    let mut failure: Option<(String, String)> = None;
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if let Some((test, verdict)) = result_of(&line) {
            let _ = events.send(Event::Ended(test.to_owned(), verdict));
        } else if let Some(test) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            send_failure(failure.replace((test.to_owned(), String::new())), events);
        } else if line == "failures:" {
            send_failure(failure.take(), events);
        } else if let Some((_, text)) = &mut failure {
            text.push_str(&line);
            text.push('\n');
        }
    }
    send_failure(failure, events);
}

fn send_failure(failure: Option<(String, String)>, events: &Sender<Event>) {
    if let Some((test, text)) = failure {
        let _ = events.send(Event::Failure(test, text.trim_end().to_owned()));
    }
}

fn result_of(line: &str) -> Option<(&str, Verdict)> {
    let (test, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    match result {
        "ok" => Some((test, Verdict::Passed)),
        "FAILED" => Some((test, Verdict::Failed)),
        _ if result.starts_with("ignored") => Some((test, Verdict::Skipped)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn verdicts_and_the_texts_of_failures_are_read() {
        let output = "\nrunning 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... ignored, slow\n\nfailures:\n\n\
                      ---- c stdout ----\nevaluation failed: c\n  reason\n\n\nfailures:\n    c\n\ntest result: FAILED.\n";
        let (sender, receiver) = mpsc::channel();
        read_results(output.as_bytes(), &sender);
        read_notices("evalsuite: SKIPPED e::f: needs a judge\nnoise\n".as_bytes(), &sender);
        drop(sender);
        let lines: Vec<String> = receiver
            .into_iter()
            .map(|event| match event {
                Event::Ended(test, verdict) => format!("{test} {}", verdict.word()),
                Event::Failure(test, text) => format!("{test}: {text}"),
                _ => panic!("another event"),
            })
            .collect();
        assert_eq!(
            lines,
            ["a::b passed", "c FAILED", "d skipped", "c: evaluation failed: c\n  reason", "e::f skipped"]
        );
    }
}
