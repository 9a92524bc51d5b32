use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    Observer, RepairError, Report, Step, Verdict,
    candidates::{self, Candidate},
    diagnosis::{CompilerError, TestRun},
    program::Program,
    suspicion::Suspicion,
    toolchain::{Compiled, Toolchain},
    trying::{Tried, save, try_all},
};

/// A program to repair.
#[derive(Debug)]
pub struct Repair {
    directory: PathBuf,
    file: String,
    toolchain: Toolchain,
}

/// Candidates that are compiled together, batch after batch: mostly one of the first helps, and many in one compile take
/// less time than many compiles.
const BATCHES: [usize; 4] = [8, 24, 32, 32];

/// Changes made one after the other: an error of the compiler may hide a failing test.
const DEPTH: usize = 2;

/// Time for the tests of a small program.
const TEST_LIMIT: Duration = Duration::from_secs(4);

/// Where a program stands.
enum State {
    Errors(Vec<CompilerError>),
    Tests(TestRun),
    /// The tests were ended after their time limit.
    Endless,
}

/// A program on the way to its repair, and the changes made so far.
struct Draft {
    program: Program,
    changes: Vec<(usize, String)>,
}

impl Repair {
    /// The program `file` in `directory`; its tests stand in it, or in `tests.rs` beside it.
    pub fn new(directory: impl AsRef<Path>, file: impl Into<String>) -> Self {
        Self { directory: directory.as_ref().to_owned(), file: file.into(), toolchain: Toolchain::from_env(TEST_LIMIT) }
    }

    /// Sets the time all tests of the program may take, for a program and for each candidate; 4 s if not set. Tests that
    /// take longer are in an endless loop.
    pub fn test_limit(mut self, limit: Duration) -> Self {
        self.toolchain.test_limit = limit;
        self
    }

    /// Repairs the program, if it can. The tests are never changed.
    ///
    /// # Errors
    ///
    /// If the program cannot be read, compiled or run at all, or the caller gave up.
    pub fn run(&self, observer: &mut impl Observer) -> Result<Report, RepairError> {
        let original = self.read(&self.file, observer)?;
        let tests = match self.directory.join("tests.rs").is_file() {
            true => Some(self.read("tests.rs", observer)?),
            false => None,
        };
        let state = self.check(observer)?;
        let wrong = match &state {
            State::Tests(run) if run.all_pass() => return Ok(self.report(Verdict::Healthy, run.total(), 0)),
            State::Tests(run) if run.total() == 0 => "it has no tests".to_owned(),
            State::Tests(run) => format!("{} of {} tests fail", run.failed.len(), run.total()),
            State::Endless => "its tests do not come to an end".to_owned(),
            State::Errors(errors) => match errors.first() {
                Some(error) => format!("it does not compile ({})", error.message),
                None => "it does not compile".to_owned(),
            },
        };
        let mut tried = 0;
        let draft = Draft { program: Program::new(&*original), changes: Vec::new() };
        let repaired = self.search(draft, state, tests.as_deref(), DEPTH, &mut tried, observer)?;
        let Some(Draft { program, changes }) = repaired else {
            return Ok(self.report(Verdict::Beaten(wrong), 0, tried));
        };
        self.write(program.text(), observer)?;
        match self.check(observer)? {
            State::Tests(run) if run.all_pass() => Ok(self.report(Verdict::Repaired(changes), run.total(), tried)),
            // Alone it does something else than among the others; that is no repair.
            _ => {
                self.write(&original, observer)?;
                Ok(self.report(Verdict::Beaten(wrong), 0, tried))
            }
        }
    }

    fn report(&self, verdict: Verdict, tests: usize, tried: usize) -> Report {
        Report { file: self.file.clone(), verdict, tests, tried }
    }

    /// The first draft that passes all tests, most likely changes first.
    fn search(
        &self,
        draft: Draft,
        state: State,
        tests: Option<&str>,
        depth: usize,
        tried: &mut usize,
        observer: &mut impl Observer,
    ) -> Result<Option<Draft>, RepairError> {
        let test_source = Program::new(tests.unwrap_or_default());
        let mut candidates = match &state {
            State::Errors(errors) => candidates::for_errors(&draft.program, &test_source, errors),
            State::Tests(run) => {
                let suspicion = Suspicion::of_tests(&draft.program, &test_source, &self.file, run);
                candidates::for_failures(&draft.program, &suspicion, run)
            }
            State::Endless => {
                candidates::for_failures(&draft.program, &Suspicion::of_all(&draft.program), &TestRun::default())
            }
        };
        let mut half_way = Vec::new();
        for size in BATCHES {
            let rest = candidates.split_off(size.min(candidates.len()));
            let batch = std::mem::replace(&mut candidates, rest);
            if batch.is_empty() {
                break;
            }
            if observer.is_cancelled() {
                return Err(RepairError::Cancelled);
            }
            let started = Instant::now();
            let results = try_all(&self.toolchain, &draft.program, tests, &self.file, &batch)?;
            let winner = results.iter().position(|result| matches!(result, Tried::Ran(run) if run.all_pass()));
            *tried += winner.map_or(batch.len(), |winner| winner + 1);
            observer.step(tried_step(&batch, &results, started.elapsed()));
            if let Some(candidate) = winner.and_then(|winner| batch.get(winner)) {
                return Ok(draft.with(candidate));
            }
            for (candidate, result) in batch.into_iter().zip(results) {
                match result {
                    Tried::Ran(run) if matches!(state, State::Errors(_)) => half_way.push((candidate, run)),
                    _ => {}
                }
            }
        }
        // A program that compiles now is better than before; the fewer tests fail, the nearer it is.
        half_way.sort_by_key(|(_, run)| run.failed.len());
        if depth > 1
            && let Some((candidate, run)) = half_way.into_iter().next()
            && let Some(next) = draft.with(&candidate)
        {
            return self.search(next, State::Tests(run), tests, depth - 1, tried, observer);
        }
        Ok(None)
    }

    fn read(&self, file: &str, observer: &mut impl Observer) -> Result<String, RepairError> {
        let started = Instant::now();
        let path = self.directory.join(file);
        let text = fs::read_to_string(&path).map_err(|source| RepairError::File { path, source })?;
        let output = json!({ "lines": text.lines().count() });
        observer.step(Step { tool: "read", input: json!({ "path": file }), output, took: started.elapsed() });
        Ok(text)
    }

    fn write(&self, text: &str, observer: &mut impl Observer) -> Result<(), RepairError> {
        let started = Instant::now();
        save(&self.directory.join(&self.file), text)?;
        let output = json!({ "bytes": text.len() });
        observer.step(Step { tool: "write", input: json!({ "path": self.file }), output, took: started.elapsed() });
        Ok(())
    }

    /// Compiles the program and runs its tests.
    fn check(&self, observer: &mut impl Observer) -> Result<State, RepairError> {
        if observer.is_cancelled() {
            return Err(RepairError::Cancelled);
        }
        let started = Instant::now();
        let scratch = tempfile::tempdir().map_err(|source| RepairError::File { path: std::env::temp_dir(), source })?;
        let binary = scratch.path().join("tests");
        let state = match self.toolchain.compile(&self.directory.join(&self.file), &binary)? {
            Compiled::Errors(errors) => State::Errors(errors),
            Compiled::Binary => self.toolchain.test(&binary, "", || true)?.map_or(State::Endless, State::Tests),
        };
        let output = match &state {
            State::Errors(errors) => json!({ "errors": errors.iter().map(|error| &error.message).collect::<Vec<_>>() }),
            State::Endless => json!({ "endless": true }),
            State::Tests(run) => json!({
                "passed": run.passed.len(),
                "failed": run.failed.iter().map(|failure| failure.test.as_str()).collect::<Vec<_>>(),
            }),
        };
        observer.step(Step { tool: "check", input: json!({ "path": self.file }), output, took: started.elapsed() });
        Ok(state)
    }
}

impl Draft {
    fn with(&self, candidate: &Candidate) -> Option<Self> {
        let program = Program::new(self.program.with(&candidate.edits)?);
        let mut changes = self.changes.clone();
        changes.push((candidate.line, candidate.what.clone()));
        Some(Self { program, changes })
    }
}

fn tried_step(batch: &[Candidate], results: &[Tried], took: Duration) -> Step {
    let candidates: Vec<Value> =
        batch.iter().map(|candidate| format!("line {}: {}", candidate.line, candidate.what).into()).collect();
    let results: Vec<Value> = results
        .iter()
        .map(|result| match result {
            Tried::DoesNotCompile => "does not compile".into(),
            Tried::Endless => "does not come to an end".into(),
            Tried::NotNeeded => "not needed".into(),
            Tried::Ran(run) => format!("{} of {} tests pass", run.passed.len(), run.total()).into(),
        })
        .collect();
    Step { tool: "try", input: json!({ "candidates": candidates }), output: json!({ "results": results }), took }
}
