//! Tests that run, and how they end.

use std::collections::BTreeMap;
use std::io;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::Arc;
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

/// A test of a test program. Programs may have tests with the same paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TestId {
    pub(super) test: String,
    /// [`Program::id`].
    program: Arc<str>,
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
    last: BTreeMap<TestId, LastResult>,
    started: usize,
}

impl Verdicts {
    pub(super) fn start(&mut self, program: &Program, tests: &[(String, Touched)]) {
        let program: Arc<str> = program.id().into();
        for (test, case) in tests {
            self.started += 1;
            let result = LastResult {
                verdict: Verdict::Running,
                earlier: Verdict::Running,
                case: case.clone(),
                text: String::new(),
                number: self.started,
            };
            self.last.insert(TestId { test: test.clone(), program: Arc::clone(&program) }, result);
        }
    }

    pub(super) fn end(&mut self, test: &TestId, verdict: Verdict) {
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

    pub(super) fn fail(&mut self, test: &TestId, text: String) {
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
    pub(super) fn shown(&self) -> Vec<(String, &LastResult)> {
        // Tests with one path are beside each other.
        let tests: Vec<&TestId> = self.last.keys().collect();
        let is_repeated = |index: usize, test: &TestId| {
            let others = [index.checked_sub(1), index.checked_add(1)].into_iter().flatten();
            others.filter_map(|index| tests.get(index)).any(|other| other.test == test.test)
        };
        let name = |(index, (test, result)): (usize, (&TestId, _))| match is_repeated(index, test) {
            true => (format!("{} ({})", test.test, test.program), result),
            false => (test.test.clone(), result),
        };
        let mut all: Vec<(String, &LastResult)> = self.last.iter().enumerate().map(name).collect();
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
    let of_output = TestEvents { program: program.id().into(), events: events.clone() };
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

/// Reads the lines that evalsuite prints past the test harness.
fn read_notices(stream: impl Read, events: &TestEvents) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let skipped = line.strip_prefix("evalsuite: SKIPPED ").and_then(|rest| rest.split_once(": "));
        if let Some((test, _)) = skipped {
            events.ended(test, Verdict::Skipped);
        }
    }
}

/// Reads what libtest prints: a line per test, then the output of those that failed.
fn read_results(stream: impl Read, events: &TestEvents) {
    let mut failure: Option<(String, String)> = None;
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if let Some((test, verdict)) = result_of(&line) {
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
        let events = TestEvents { program: "shop::evals".into(), events: sender };
        read_results(output.as_bytes(), &events);
        read_notices("evalsuite: SKIPPED e::f: needs a judge\nnoise\n".as_bytes(), &events);
        drop(events);
        let lines: Vec<String> = receiver
            .into_iter()
            .map(|event| match event {
                Event::Ended(test, verdict) => format!("{} {}", test.test, verdict.word()),
                Event::Failure(test, text) => format!("{}: {text}", test.test),
                _ => panic!("another event"),
            })
            .collect();
        assert_eq!(
            lines,
            ["a::b passed", "c FAILED", "d skipped", "c: evaluation failed: c\n  reason", "e::f skipped"]
        );
    }
}
