//! The loop: read, check, try, write, check.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::candidate_trials::{CandidateResult, save, try_all};
use crate::candidates::Candidate;
use crate::diagnosis::{CompilerError, TestRun};
use crate::program::Program;
use crate::suspicion::Suspicion;
use crate::toolchain::{Compiled, Toolchain};
use crate::{Observer, RepairError, Report, Step, Verdict, candidates};

/// A program to repair.
#[derive(Debug)]
pub struct Repair {
    directory: PathBuf,
    file: String,
    toolchain: Toolchain,
}

/// Sizes of the batches of candidates that are compiled together. One of the first candidates usually helps, and one
/// compilation of many candidates is faster than many compilations.
const BATCHES: [usize; 4] = [8, 24, 32, 32];

/// Maximum number of consecutive changes: a compiler error may hide a failing test.
const MAX_CHANGES: usize = 2;

/// Default time limit for the tests of a program.
const TEST_LIMIT: Duration = Duration::from_secs(4);

/// Result of compiling a program and running its tests.
enum CheckResult {
    Errors(Vec<CompilerError>),
    Tests(TestRun),
    /// The tests were killed at their time limit.
    TimedOut,
}

/// A program with the changes made so far.
struct Draft {
    program: Program,
    changes: Vec<(usize, String)>,
}

impl Repair {
    /// The program `file` in `directory`, with tests in it or in `tests.rs` next to it.
    pub fn new(directory: impl AsRef<Path>, file: impl Into<String>) -> Self {
        Self { directory: directory.as_ref().to_owned(), file: file.into(), toolchain: Toolchain::from_env(TEST_LIMIT) }
    }

    /// Sets the time limit for all tests, of the program and of each candidate; the default is 4 s. Tests that exceed it are
    /// assumed to be in an infinite loop.
    pub fn test_limit(mut self, limit: Duration) -> Self {
        self.toolchain.test_limit = limit;
        self
    }

    /// Repairs the program, if it can. The tests are never changed.
    ///
    /// # Errors
    ///
    /// If the program cannot be read, the compiler or the tests cannot be started, or the caller cancelled the repair.
    pub fn run(&self, observer: &mut impl Observer) -> Result<Report, RepairError> {
        let original = self.read(&self.file, observer)?;
        let tests = match self.directory.join("tests.rs").is_file() {
            true => Some(self.read("tests.rs", observer)?),
            false => None,
        };
        let state = self.check(observer)?;
        let wrong = match &state {
            CheckResult::Tests(run) if run.all_pass() => return Ok(self.report(Verdict::Healthy, run.total(), 0)),
            CheckResult::Tests(run) if run.total() == 0 => "it has no tests".to_owned(),
            CheckResult::Tests(run) => format!("{} of {} tests fail", run.failed.len(), run.total()),
            CheckResult::TimedOut => "its tests do not terminate".to_owned(),
            CheckResult::Errors(errors) => match errors.first() {
                Some(error) => format!("it does not compile ({})", error.message),
                None => "it does not compile".to_owned(),
            },
        };
        let mut tried = 0;
        let draft = Draft { program: Program::new(&*original), changes: Vec::new() };
        let repaired = self.search(draft, state, tests.as_deref(), MAX_CHANGES, &mut tried, observer)?;
        let Some(Draft { program, changes }) = repaired else {
            return Ok(self.report(Verdict::NotRepaired(wrong), 0, tried));
        };
        self.write(program.text(), observer)?;
        match self.check(observer)? {
            CheckResult::Tests(run) if run.all_pass() => {
                Ok(self.report(Verdict::Repaired(changes), run.total(), tried))
            }
            // It behaves differently on its own than among the other candidates, so it is not a repair.
            _ => {
                self.write(&original, observer)?;
                Ok(self.report(Verdict::NotRepaired(wrong), 0, tried))
            }
        }
    }

    fn report(&self, verdict: Verdict, tests: usize, tried: usize) -> Report {
        Report { file: self.file.clone(), verdict, tests, tried }
    }

    /// Searches for a draft that passes all tests, most likely changes first.
    fn search(
        &self,
        draft: Draft,
        state: CheckResult,
        tests: Option<&str>,
        remaining_changes: usize,
        tried: &mut usize,
        observer: &mut impl Observer,
    ) -> Result<Option<Draft>, RepairError> {
        let test_source = Program::new(tests.unwrap_or_default());
        let mut candidates = match &state {
            CheckResult::Errors(errors) => candidates::for_errors(&draft.program, &test_source, errors),
            CheckResult::Tests(run) => {
                let suspicion = Suspicion::of_tests(&draft.program, &test_source, &self.file, run);
                candidates::for_failures(&draft.program, &suspicion, run)
            }
            CheckResult::TimedOut => {
                candidates::for_failures(&draft.program, &Suspicion::of_all(&draft.program), &TestRun::default())
            }
        };
        let mut compiling = Vec::new();
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
            let winner =
                results.iter().position(|result| matches!(result, CandidateResult::Ran(run) if run.all_pass()));
            *tried += winner.map_or(batch.len(), |winner| winner + 1);
            observer.step(step_for_batch(&batch, &results, started.elapsed()));
            if let Some(candidate) = winner.and_then(|winner| batch.get(winner)) {
                return Ok(draft.with(candidate));
            }
            for (candidate, result) in batch.into_iter().zip(results) {
                match result {
                    CandidateResult::Ran(run) if matches!(state, CheckResult::Errors(_)) => {
                        compiling.push((candidate, run))
                    }
                    _ => {}
                }
            }
        }
        // A program that now compiles is an improvement; the fewer tests fail, the better.
        compiling.sort_by_key(|(_, run)| run.failed.len());
        if remaining_changes > 1
            && let Some((candidate, run)) = compiling.into_iter().next()
            && let Some(next) = draft.with(&candidate)
        {
            return self.search(next, CheckResult::Tests(run), tests, remaining_changes - 1, tried, observer);
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
    fn check(&self, observer: &mut impl Observer) -> Result<CheckResult, RepairError> {
        if observer.is_cancelled() {
            return Err(RepairError::Cancelled);
        }
        let started = Instant::now();
        let scratch = tempfile::tempdir().map_err(|source| RepairError::File { path: std::env::temp_dir(), source })?;
        let binary = scratch.path().join("tests");
        let state = match self.toolchain.compile(&self.directory.join(&self.file), &binary)? {
            Compiled::Errors(errors) => CheckResult::Errors(errors),
            Compiled::Binary => {
                self.toolchain.test(&binary, "", || true)?.map_or(CheckResult::TimedOut, CheckResult::Tests)
            }
        };
        let output = match &state {
            CheckResult::Errors(errors) => {
                json!({ "errors": errors.iter().map(|error| &error.message).collect::<Vec<_>>() })
            }
            CheckResult::TimedOut => json!({ "endless": true }),
            CheckResult::Tests(run) => json!({
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

fn step_for_batch(batch: &[Candidate], results: &[CandidateResult], took: Duration) -> Step {
    let candidates: Vec<Value> =
        batch.iter().map(|candidate| format!("line {}: {}", candidate.line, candidate.what).into()).collect();
    let results: Vec<Value> = results
        .iter()
        .map(|result| match result {
            CandidateResult::DoesNotCompile => "does not compile".into(),
            CandidateResult::TimedOut => "does not terminate".into(),
            CandidateResult::NotNeeded => "not needed".into(),
            CandidateResult::Ran(run) => format!("{} of {} tests pass", run.passed.len(), run.total()).into(),
        })
        .collect();
    Step { tool: "try", input: json!({ "candidates": candidates }), output: json!({ "results": results }), took }
}
