//! Runs the tests and shows their progress: live on a terminal, else as lines. Tests append the steps of their cases to a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use std::{env, fmt, thread};

use evalsuite::tooling::LongCases;
use evalsuite::{ProgressEvent, ProgressStep, Status};
use evalsuite_records::record::OutcomeCounts;
use evalsuite_records::summary::lower_bound;
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::OutputFormat;
use crate::platform::exit_status::{ErrorContext, Result};
use crate::platform::output::{is_live, say, without_reader};
use crate::run::cargo_commands::Colors;
use crate::run::suite_tests::TestKey;

/// Time between two looks at the progress.
const INTERVAL: Duration = Duration::from_millis(100);

/// Where the test runner has to use colors although its output is a pipe.
pub(super) fn colors() -> Colors {
    let has_colors = is_live() && env::var_os("NO_COLOR").is_none_or(|no_color| no_color.is_empty());
    Colors { stdout: has_colors && io::stdout().is_terminal(), stderr: has_colors }
}

/// Runs the command of a test runner to its end. `tests` are those of the chosen cases. Where standard output is for JSON, the output of the
/// tests goes to standard error.
pub(super) fn run(mut command: Command, tests: BTreeSet<TestKey>, format: OutputFormat) -> Result<ExitStatus> {
    let directory = tempfile::tempdir()?;
    // A file that the user has named gets the lines, too.
    let path = env::var_os("EVALSUITE_PROGRESS").filter(|path| !path.is_empty());
    let path = path.map_or_else(|| Ok(directory.path().join("progress.jsonl")), std::path::absolute)?;
    command.env("EVALSUITE_PROGRESS", &path);
    let file = ProgressFile::after(&path)?;
    let state = RunState::new(tests);
    if format == OutputFormat::Json {
        command.stdout(io::stderr());
        return run_with_lines(command, file, state);
    }
    if is_live() { run_live(command, file, state) } else { run_with_lines(command, file, state) }
}

/// The output of the tests goes where that of this program goes.
fn run_with_lines(mut command: Command, mut file: ProgressFile, mut state: RunState) -> Result<ExitStatus> {
    let mut child = command.spawn().of(&command)?;
    let (start, mut long) = (Instant::now(), LongCases::default());
    let mut show = |events: Vec<ProgressEvent>| {
        for event in events {
            let line = long.line(&event, start.elapsed());
            if let Some(line) = state.add(&event).or(line) {
                say!("evalsuite: {line}");
            }
        }
    };
    loop {
        let ended = child.try_wait()?;
        show(file.read());
        match ended {
            Some(status) => return Ok(status),
            None => thread::sleep(INTERVAL),
        }
    }
}

/// The output of the tests is shown above the progress.
fn run_live(mut command: Command, mut file: ProgressFile, mut state: RunState) -> Result<ExitStatus> {
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{msg}")?);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().of(&command)?;
    let output = ChildOutput::of(&mut child);
    let shown = loop {
        let ended = child.try_wait()?;
        let shown = show_output(&output, &bar, ended.is_some());
        for event in file.read() {
            state.add(&event);
        }
        if shown.is_err() || ended.is_some() {
            break shown;
        }
        bar.set_message(state.to_string());
    };
    bar.finish_and_clear();
    // If the output cannot be shown, the test runner cannot write it any more.
    drop(output);
    let status = child.wait()?;
    shown.map(|()| status)
}

/// Shows output for about as long as the interval, or all of it.
fn show_output(output: &ChildOutput, bar: &ProgressBar, all: bool) -> Result<()> {
    let start = Instant::now();
    while let Some(line) = output.next_within(INTERVAL) {
        bar.suspend(|| line.write())?;
        if !all && start.elapsed() >= INTERVAL {
            break;
        }
    }
    Ok(())
}

/// The lines that a program writes.
struct ChildOutput(Receiver<OutputLine>);

/// A line with its line break; the last one may have none.
#[derive(Debug, PartialEq)]
enum OutputLine {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
}

impl ChildOutput {
    /// The output of a program that was started with pipes.
    fn of(child: &mut Child) -> Self {
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
    fn next_within(&self, limit: Duration) -> Option<OutputLine> {
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
    fn write(&self) -> io::Result<()> {
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

/// Reads what is appended to a file of steps.
struct ProgressFile {
    file: File,
    /// The beginning of a line that is not complete yet.
    rest: Vec<u8>,
    is_readable: bool,
}

impl ProgressFile {
    /// What is appended from now on; the file is created if it does not exist.
    fn after(path: &Path) -> io::Result<Self> {
        let error = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut file = File::options().create(true).append(true).read(true).open(path).map_err(error)?;
        file.seek(SeekFrom::End(0)).map_err(error)?;
        Ok(Self { file, rest: Vec::new(), is_readable: true })
    }

    /// The steps since the last call. A file that cannot be read is reported, and has no further steps: the tests go on.
    fn read(&mut self) -> Vec<ProgressEvent> {
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

/// Largest number of running cases that are shown.
const SHOWN: usize = 8;

/// The cases of a run: those that have ended, and those that are running. It is displayed in several lines.
struct RunState {
    /// Tests of cases that were chosen or have run.
    tests: BTreeSet<TestKey>,
    /// By test.
    ended: BTreeMap<TestKey, Status>,
    /// The last step of each case that is running, by test.
    running: BTreeMap<TestKey, ProgressEvent>,
    /// Cost in US dollars of each case so far, by test, and whether it is a lower bound.
    cost: BTreeMap<TestKey, (Option<f64>, bool)>,
}

impl RunState {
    fn new(tests: BTreeSet<TestKey>) -> Self {
        Self { tests, ended: BTreeMap::new(), running: BTreeMap::new(), cost: BTreeMap::new() }
    }

    /// Adds a step; returns the line about a case that has ended.
    fn add(&mut self, event: &ProgressEvent) -> Option<String> {
        let ProgressEvent { test_name, package, module, .. } = event;
        let test = &TestKey { test: test_name.clone(), package: package.clone(), module: module.clone() };
        // Dependencies of chosen cases run, too.
        self.tests.insert(test.clone());
        if let ProgressStep::TrialFinished { cost_usd, is_cost_partial, .. }
        | ProgressStep::CaseFinished { cost_usd, is_cost_partial, .. } = event.step
        {
            self.cost.insert(test.clone(), (cost_usd, is_cost_partial));
        }
        match &event.step {
            ProgressStep::CaseFinished { outcome, .. } => {
                self.running.remove(test);
                self.ended.insert(test.clone(), *outcome);
                Some(format!("[{}/{}] {event}", self.ended.len(), self.tests.len()))
            }
            // What is going on is more interesting than what has just begun.
            ProgressStep::TrialStarted { .. } if self.running.contains_key(test) && event.trials > 1 => None,
            _ => {
                self.running.insert(test.clone(), event.clone());
                None
            }
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts = OutcomeCounts::default();
        self.ended.values().for_each(|outcome| counts.add(*outcome));
        let OutcomeCounts { passed, failed, error, skipped } = counts;
        write!(f, "{}/{} cases: ", self.ended.len(), self.tests.len())?;
        write!(f, "{passed} passed, {failed} failed, {error} error, {skipped} skipped")?;
        if let Some(cost) = self.cost.values().filter_map(|(cost, _)| *cost).reduce(|sum, cost| sum + cost) {
            let is_partial = self.cost.values().any(|(_, is_partial)| *is_partial);
            write!(f, ", {}", lower_bound(is_partial, &format!("{cost:.4} USD")))?;
        }
        for event in self.running.values().take(SHOWN) {
            write!(f, "\n  {event}")?;
        }
        match self.running.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

#[cfg(all(test, unix))]
mod child_output_tests {
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

#[cfg(test)]
mod progress_file_tests {
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

#[cfg(test)]
mod run_state_tests {
    use evalsuite_records::record::SuiteId;
    use evalsuite_schema::json::{Value, json};

    use super::*;

    fn event(test: &str, trials: u32, step: Value) -> ProgressEvent {
        let event = json!({
            "suite": "s", "test_name": test, "case_id": test, "target": "default", "trials": trials, "step": step,
        });
        evalsuite_schema::json::from_value(event).unwrap()
    }

    #[test]
    fn running_cases_are_shown_below_what_has_ended() {
        let mut state =
            RunState::new(["s::a", "s::b", "s::c"].map(|test| TestKey::new(&SuiteId::default(), test)).into());
        assert_eq!(state.to_string(), "0/3 cases: 0 passed, 0 failed, 0 error, 0 skipped");
        let started = || json!({"case_started": {}});
        assert_eq!(state.add(&event("s::a", 3, started())), None);
        assert_eq!(state.add(&event("s::a", 3, json!({"trial_started": {"trial": 0, "attempt": 0}}))), None);
        assert!(state.to_string().ends_with("\n  s::a: started, 3 trials"), "{state}");
        let trial = json!({"trial_finished": {
            "trial": 0, "outcome": "failed", "score": 0.5, "finished": 1, "mean_score": 0.5, "cost_usd": 0.25,
        }});
        assert_eq!(state.add(&event("s::a", 3, trial)), None);
        assert_eq!(
            state.to_string(),
            "0/3 cases: 0 passed, 0 failed, 0 error, 0 skipped, 0.2500 USD\n  \
             s::a: trial 1 of 3 failed, score 0.50, mean so far 0.50, 0.2500 USD"
        );
        let skipped = json!({"case_finished": {"outcome": "skipped", "score": null, "cost_usd": null, "reason": "needs a judge"}});
        assert_eq!(state.add(&event("s::b", 1, skipped)).as_deref(), Some("[1/3] s::b: skipped: needs a judge"));
        let passed = json!({"case_finished": {"outcome": "passed", "score": 1.0, "cost_usd": 0.5, "reason": null}});
        assert_eq!(
            state.add(&event("s::other", 1, passed)).as_deref(),
            Some("[2/4] s::other: passed, score 1.00, 0.5000 USD"),
            "a dependency that was not chosen"
        );
        assert!(state.to_string().starts_with("2/4 cases: 1 passed, 0 failed, 0 error, 1 skipped, 0.7500 USD\n"));
        let unknown = json!({"case_finished": {"outcome": "failed", "score": 0.0, "cost_usd": null, "is_cost_partial": true, "reason": null}});
        state.add(&event("s::c", 1, unknown));
        assert!(
            state.to_string().starts_with("3/4 cases: 1 passed, 1 failed, 0 error, 1 skipped, ≥ 0.7500 USD\n"),
            "{state}"
        );
        for number in 0..9 {
            state.add(&event(&format!("s::r{number}"), 1, started()));
        }
        assert!(state.to_string().ends_with("\n  s::r6: started\n  and 2 more"), "{state}");
    }
}
