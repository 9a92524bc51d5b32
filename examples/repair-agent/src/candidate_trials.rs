//! Compiles many candidates at once and runs their tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, thread};

use crate::RepairError;
use crate::candidates::Candidate;
use crate::diagnosis::TestRun;
use crate::lexer::TokenKind;
use crate::program::Program;
use crate::toolchain::{Compiled, Toolchain};

/// The result of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CandidateResult {
    DoesNotCompile,
    /// Its tests exceeded the time limit.
    TimedOut,
    Ran(TestRun),
    /// A better candidate passed all tests first.
    NotNeeded,
}

/// Maximum number of compilations. Each leaves out the candidates with errors in the previous one; the compiler reports
/// errors of one phase at a time, so a few are enough.
const MAX_COMPILATIONS: usize = 6;

/// Compiles all candidates as modules of one crate, so that the compiler starts and links once, and runs the tests of
/// each.
pub(crate) fn try_all(
    toolchain: &Toolchain,
    program: &Program,
    tests: Option<&str>,
    file: &str,
    candidates: &[Candidate],
) -> Result<Vec<CandidateResult>, RepairError> {
    let dir = tempfile::tempdir().map_err(|source| RepairError::File { path: std::env::temp_dir(), source })?;
    let mut remaining: Vec<usize> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        if let Some(text) = program.with(&candidate.edits) {
            let module = module(index);
            let directory = dir.path().join(&module);
            fs::create_dir(&directory).map_err(|source| RepairError::File { path: directory.clone(), source })?;
            save(&directory.join(file), &inside_module(&text, &module))?;
            if let Some(tests) = tests {
                save(&directory.join("tests.rs"), &inside_module(tests, &module))?;
            }
            remaining.push(index);
        }
    }
    let binary = dir.path().join("tests");
    let mut built = false;
    for _ in 0..MAX_COMPILATIONS {
        if remaining.is_empty() {
            break;
        }
        let root = dir.path().join("all.rs");
        let modules: String =
            remaining.iter().map(|index| format!("#[path = \"{0}/{file}\"]\nmod {0};\n", module(*index))).collect();
        save(&root, &modules)?;
        match toolchain.compile(&root, &binary)? {
            Compiled::Binary => {
                built = true;
                break;
            }
            Compiled::Errors(errors) => {
                let before = remaining.len();
                remaining.retain(|index| {
                    let module = module(*index);
                    !errors
                        .iter()
                        .any(|error| Path::new(&error.file).components().any(|part| part.as_os_str() == &*module))
                });
                // An error outside of all candidates would occur again.
                if remaining.len() == before {
                    break;
                }
            }
        }
    }
    let mut results = vec![CandidateResult::DoesNotCompile; candidates.len()];
    if built {
        for (index, result) in remaining.iter().zip(run_all(toolchain, &binary, &remaining)?) {
            results[*index] = result;
        }
    }
    Ok(results)
}

/// Runs the tests of several modules in parallel, so that one in an infinite loop does not block the others.
fn run_all(toolchain: &Toolchain, binary: &Path, remaining: &[usize]) -> Result<Vec<CandidateResult>, RepairError> {
    let next = AtomicUsize::new(0);
    let best = AtomicUsize::new(usize::MAX);
    let results: Mutex<Vec<(usize, Result<CandidateResult, RepairError>)>> = Mutex::default();
    let workers = thread::available_parallelism().map_or(2, usize::from).clamp(1, 4);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    let Some(index) = remaining.get(position) else { break };
                    // Candidates before the best one still run, so that the winner does not depend on timing.
                    let needed = || position <= best.load(Ordering::Relaxed);
                    let result = if needed() {
                        let filter = format!("{}::", module(*index));
                        toolchain.test(binary, &filter, needed)
                    } else {
                        Ok(None)
                    };
                    let result = result.map(|run| match run {
                        Some(run) => CandidateResult::Ran(run),
                        None if needed() => CandidateResult::TimedOut,
                        None => CandidateResult::NotNeeded,
                    });
                    if matches!(&result, Ok(CandidateResult::Ran(run)) if run.all_pass()) {
                        best.fetch_min(position, Ordering::Relaxed);
                    }
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((position, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Name of a candidate's module; no name is a prefix of another.
fn module(index: usize) -> String {
    format!("candidate_{index:04}")
}

/// The source of a crate as source of a module: paths that start with `crate` go through the module.
fn inside_module(text: &str, module: &str) -> String {
    let program = Program::new(text);
    let mut edits = Vec::new();
    for index in 0..program.len() {
        if program.kind(index) == Some(TokenKind::Word)
            && program.token(index) == "crate"
            && program.token(index + 1) == "::"
        {
            let end = program.range(index).end;
            edits.push(crate::program::Edit { range: end..end, text: format!("::{module}") });
        }
    }
    program.with(&edits).unwrap_or_else(|| text.to_owned())
}

pub(crate) fn save(path: &Path, text: &str) -> Result<(), RepairError> {
    fs::write(path, text).map_err(|source| RepairError::File { path: PathBuf::from(path), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crate_paths_go_through_the_module() {
        assert_eq!(
            inside_module("use crate::a; pub(crate) fn b() {} // crate::c", "m"),
            "use crate::m::a; pub(crate) fn b() {} // crate::c"
        );
    }
}
