use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::{
    RepairError,
    candidates::Candidate,
    diagnosis::TestRun,
    lexer::Kind,
    program::Program,
    toolchain::{Compiled, Toolchain},
};

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tried {
    DoesNotCompile,
    /// Its tests do not come to an end.
    Endless,
    Ran(TestRun),
    /// A better one passed all tests before it was its turn.
    NotNeeded,
}

/// Compiles are repeated without the candidates that broke the last one; the compiler reports errors of one phase at a
/// time, so this many suffice.
const ROUNDS: usize = 6;

/// Compiles all candidates as modules of one crate, so that the compiler starts and links once, and runs the tests of
/// each.
pub(crate) fn try_all(
    toolchain: &Toolchain,
    program: &Program,
    tests: Option<&str>,
    file: &str,
    candidates: &[Candidate],
) -> Result<Vec<Tried>, RepairError> {
    let dir = tempfile::tempdir().map_err(|source| RepairError::File { path: std::env::temp_dir(), source })?;
    let mut alive: Vec<usize> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        if let Some(text) = program.with(&candidate.edits) {
            let module = module(index);
            let place = dir.path().join(&module);
            fs::create_dir(&place).map_err(|source| RepairError::File { path: place.clone(), source })?;
            save(&place.join(file), &inside_module(&text, &module))?;
            if let Some(tests) = tests {
                save(&place.join("tests.rs"), &inside_module(tests, &module))?;
            }
            alive.push(index);
        }
    }
    let binary = dir.path().join("tests");
    let mut built = false;
    for _ in 0..ROUNDS {
        if alive.is_empty() {
            break;
        }
        let root = dir.path().join("all.rs");
        let modules: String =
            alive.iter().map(|index| format!("#[path = \"{0}/{file}\"]\nmod {0};\n", module(*index))).collect();
        save(&root, &modules)?;
        match toolchain.compile(&root, &binary)? {
            Compiled::Binary => {
                built = true;
                break;
            }
            Compiled::Errors(errors) => {
                let before = alive.len();
                alive.retain(|index| {
                    let module = module(*index);
                    !errors
                        .iter()
                        .any(|error| Path::new(&error.file).components().any(|part| part.as_os_str() == &*module))
                });
                // An error that belongs to no candidate would come again.
                if alive.len() == before {
                    break;
                }
            }
        }
    }
    let mut tried = vec![Tried::DoesNotCompile; candidates.len()];
    if built {
        for (index, result) in alive.iter().zip(run_all(toolchain, &binary, &alive)?) {
            tried[*index] = result;
        }
    }
    Ok(tried)
}

/// Runs the tests of each module, several at a time: most are done at once, and one in an endless loop waits for its end.
fn run_all(toolchain: &Toolchain, binary: &Path, alive: &[usize]) -> Result<Vec<Tried>, RepairError> {
    let next = AtomicUsize::new(0);
    let best = AtomicUsize::new(usize::MAX);
    let results: Mutex<Vec<(usize, Result<Tried, RepairError>)>> = Mutex::default();
    let workers = thread::available_parallelism().map_or(2, usize::from).clamp(1, 4);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    let Some(index) = alive.get(position) else { break };
                    // Those before the best one still run: which one wins must not depend on which ends first.
                    let needed = || position <= best.load(Ordering::Relaxed);
                    let result = if needed() {
                        let filter = format!("{}::", module(*index));
                        toolchain.test(binary, &filter, needed)
                    } else {
                        Ok(None)
                    };
                    let result = result.map(|run| match run {
                        Some(run) => Tried::Ran(run),
                        None if needed() => Tried::Endless,
                        None => Tried::NotNeeded,
                    });
                    if matches!(&result, Ok(Tried::Ran(run)) if run.all_pass()) {
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

/// Name of a candidate's module; no name is the beginning of another.
fn module(index: usize) -> String {
    format!("candidate_{index:04}")
}

/// Source of a crate as source of a module: paths from the crate's root lead through the module.
fn inside_module(text: &str, module: &str) -> String {
    let program = Program::new(text);
    let mut edits = Vec::new();
    for index in 0..program.len() {
        if program.kind(index) == Some(Kind::Word)
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
    fn paths_from_the_root_lead_through_the_module() {
        assert_eq!(
            inside_module("use crate::a; pub(crate) fn b() {} // crate::c", "m"),
            "use crate::m::a; pub(crate) fn b() {} // crate::c"
        );
    }
}
