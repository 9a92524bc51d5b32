//! The records of a merged run and its suites, from those of its parts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evalsuite_records::record::{CaseRecord, GitState, HookState, RunRecord, SuiteRecord, SuiteRun, SuiteTest};

/// Reasons why these are not parts of one run.
pub(super) fn contradictions(runs: &[RunRecord], parts: &[PathBuf]) -> Vec<String> {
    let mut problems = Vec::new();
    let Some(first) = runs.first() else { return problems };
    for (run, part) in runs.iter().zip(parts) {
        if run.run_id != first.run_id {
            let message = format!("{} is run `{}`, not `{}`", part.display(), run.run_id, first.run_id);
            problems.push(format!("{message}: set EVALSUITE_RUN_ID to the same value on all machines"));
        }
        if let (Some(here), Some(there)) = (&run.git, &first.git)
            && here.commit != there.commit
        {
            problems.push(format!("{} has records of commit {}, not {}", part.display(), here.commit, there.commit));
        }
    }
    problems
}

/// Warnings about hooks that parts still have to run.
pub(super) fn pending_hooks(runs: &[RunRecord], parts: &[PathBuf]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (run, part) in runs.iter().zip(parts) {
        for suite in run.suites.iter().filter(|suite| suite.after_all == HookState::Pending) {
            let message = format!("the after_all hooks of suite `{}` are pending in {}", suite.name, part.display());
            warnings.push(format!("{message}\n  = help: run `cargo evalsuite finish` on its machine, then merge"));
        }
    }
    warnings
}

/// One record for all parts, which contains theirs.
///
/// `suites` are its suites by the path of their record in the run.
pub(super) fn merged_run(runs: &[RunRecord], suites: &BTreeMap<PathBuf, SuiteRecord>) -> RunRecord {
    let mut merged = runs[0].clone();
    merged.shards = runs.to_vec();
    let mut known: BTreeMap<(String, String), SuiteRun> = BTreeMap::new();
    for run in runs {
        merged.started_at = merged.started_at.min(run.started_at.clone());
        merged.git = match (merged.git, &run.git) {
            (Some(git), Some(other)) => Some(GitState::new(git.commit, git.dirty || other.dirty)),
            (git, other) => git.or_else(|| other.clone()),
        };
        merged.ci = merged.ci.or_else(|| run.ci.clone());
        for (name, value) in &run.env {
            merged.env.entry(name.clone()).or_insert_with(|| value.clone());
        }
        for suite in &run.suites {
            let entry = known.entry((suite.name.clone(), suite.directory.clone())).or_insert_with(|| suite.clone());
            entry.tests = entry.tests.max(suite.tests);
            entry.before_all = worse(entry.before_all, suite.before_all);
            entry.after_all = worse(entry.after_all, suite.after_all);
        }
    }
    for (path, suite) in suites {
        let directory = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        // Older versions did not record the directory.
        for directory in [directory, String::new()] {
            if let Some(entry) = known.get_mut(&(suite.name.clone(), directory)) {
                entry.tests = u32::try_from(suite.tests.len()).unwrap_or(u32::MAX);
            }
        }
    }
    merged.suites = known.into_values().collect();
    merged
}

fn worse(left: HookState, right: HookState) -> HookState {
    let order = [HookState::Failed, HookState::Pending, HookState::Done];
    order.into_iter().find(|state| [left, right].contains(state)).unwrap_or_default()
}

/// The test that wrote a record: its program and its path.
pub(super) fn test_of(case: &CaseRecord) -> String {
    format!("{}::{}", program(&case.program), case.test_name)
}

/// Adds the tests of a part that no earlier part has.
pub(super) fn add_tests(known: &mut SuiteRecord, part: SuiteRecord) {
    for test in part.tests {
        let is_same =
            |other: &SuiteTest| program(&other.program) == program(&test.program) && other.test_name == test.test_name;
        if !known.tests.iter().any(is_same) {
            known.tests.push(test);
        }
    }
}

/// Name of a test program without cargo's digest at its end, which differs between machines.
fn program(file: &str) -> &str {
    let file = file.strip_suffix(".exe").unwrap_or(file);
    match file.rsplit_once('-') {
        Some((name, digest)) if digest.len() == 16 && digest.chars().all(|digit| digit.is_ascii_hexdigit()) => name,
        _ => file,
    }
}
