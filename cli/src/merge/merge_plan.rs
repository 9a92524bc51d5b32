//! The plan of a merge, complete before anything is written: files that are the same or differ, and the records of the merged run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use evalsuite_records::digest::sha256_of;
use evalsuite_records::record::{
    CaseRecord, ChosenTests, GitState, HookState, RunRecord, Started, SuiteRecord, SuiteRun, SuiteTest,
};
use evalsuite_records::run_directory::{
    BASE_WORKSPACES, CASE_RECORD, CASES, CHOSEN, CaseDirectoryName, LEDGER, LOCKS, RUN_RECORD, SHARDS, SUITE_RECORD,
    SUITES, SUMMARY, TRIAL_STARTED, is_session_file, open_run_file, read_run_file, read_run_record,
    run_directory_entries, trial_directory_name,
};
use walkdir::WalkDir;

/// A merge of parts that do not contradict each other.
#[derive(Debug, Default)]
pub(super) struct MergePlan {
    pub(super) run: RunRecord,
    pub(super) cases: usize,
    /// Problems of parts that can be merged nevertheless.
    pub(super) warnings: Vec<String>,
    /// Files and directories of parts by their path in the merged run.
    pub(super) copies: BTreeMap<PathBuf, PathBuf>,
    pub(super) suites: BTreeMap<PathBuf, SuiteRecord>,
    /// The tests that were chosen; `None` if a part does not say.
    pub(super) chosen: Option<ChosenTests>,
    /// Lines of all ledgers.
    pub(super) ledger: String,
}

/// A case's directory of one part.
struct CaseSource {
    part: usize,
    directory: PathBuf,
    /// The test that ran it.
    test: Option<String>,
    /// Whether it ran for a case that depends on it; then several parts may have it.
    is_requested: bool,
}

/// A case's directory of one part, before it has its path in the merged run.
struct FoundCase {
    part: usize,
    path: PathBuf,
    /// The test that ran it.
    test: Option<String>,
    /// Id of the case; `None` without a record that can be read.
    id: Option<String>,
    is_requested: bool,
}

impl MergePlan {
    pub(super) fn new(parts: &[PathBuf]) -> io::Result<Result<Self, Vec<String>>> {
        let mut runs = Vec::new();
        let mut problems = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if parts[..index].contains(part) {
                problems.push(format!("{} is listed twice", part.display()));
            }
            match read_run_record::<RunRecord>(part, Path::new(RUN_RECORD)) {
                Ok(Some(run)) => runs.push(run),
                Err(error) => problems.push(format!("{}: {error}", part.join(RUN_RECORD).display())),
                Ok(None) => problems.push(format!("{} has no run.json", part.display())),
            }
        }
        if !problems.is_empty() {
            return Ok(Err(problems));
        }
        problems.extend(contradictions(&runs, parts));
        let mut merge = Merge {
            parts,
            plan: Self::default(),
            cases: BTreeMap::new(),
            found: Vec::new(),
            readable: BTreeSet::new(),
            problems,
        };
        for index in 0..parts.len() {
            merge.add_part(index)?;
        }
        // In whatever order the parts are, a record that can be read counts.
        let (readable, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut merge.found).into_iter().partition(|case| case.id.is_some());
        readable.into_iter().try_for_each(|case| merge.add_case(case))?;
        others.into_iter().try_for_each(|case| merge.add_case(case))?;
        let Merge { mut plan, problems, readable, .. } = merge;
        plan.cases = readable.len();
        plan.run = merged_run(&runs, &plan.suites);
        plan.chosen = chosen_tests(parts, &mut plan.warnings);
        plan.warnings.extend(pending_hooks(&runs, parts));
        plan.warnings.extend(other_agents(&runs, parts));
        Ok(if problems.is_empty() { Ok(plan) } else { Err(problems) })
    }
}

/// The tests that were chosen for any part; `None` if one does not say, or with a warning, if one cannot be read.
fn chosen_tests(parts: &[PathBuf], warnings: &mut Vec<String>) -> Option<ChosenTests> {
    let read = |part: &PathBuf| {
        read_run_record(part, Path::new(CHOSEN)).unwrap_or_else(|error| {
            warnings.push(format!("{}: {error}", part.join(CHOSEN).display()));
            None
        })
    };
    let parts: Vec<Option<ChosenTests>> = parts.iter().map(read).collect();
    parts.into_iter().try_fold(ChosenTests::new(), |mut all, part| {
        all.extend(part?);
        Some(all)
    })
}

struct Merge<'a> {
    parts: &'a [PathBuf],
    plan: MergePlan,
    /// By their path in the merged run.
    cases: BTreeMap<PathBuf, CaseSource>,
    /// Cases of all parts that are not added yet.
    found: Vec<FoundCase>,
    /// Paths of the cases that have a record, whichever attempt of the test runner it is of.
    readable: BTreeSet<PathBuf>,
    problems: Vec<String>,
}

impl Merge<'_> {
    fn add_part(&mut self, part: usize) -> io::Result<()> {
        for name in self.names(part, Path::new("")) {
            match name.as_str() {
                // Locks are those of processes on the machine of the part. The others are written anew.
                LOCKS | SUMMARY | RUN_RECORD | SHARDS | CHOSEN => {}
                LEDGER => {
                    let path = Path::new(&name);
                    let lines = self.or_warn(part, path, read_run_file(&self.parts[part], path));
                    let lines = String::from_utf8_lossy(&lines);
                    self.plan.ledger.extend(lines.split_inclusive('\n').filter(|line| line.ends_with('\n')));
                }
                SUITES => {
                    for suite in self.names(part, Path::new(SUITES)) {
                        self.add_suite(part, &Path::new(SUITES).join(suite))?;
                    }
                }
                _ => self.add_other(part, Path::new(&name))?,
            }
        }
        Ok(())
    }

    /// The names of the directories and regular files in a directory of a part.
    fn names(&mut self, part: usize, path: &Path) -> BTreeSet<String> {
        let (directories, files) = self.or_warn(part, path, run_directory_entries(&self.parts[part], path));
        directories.iter().chain(&files).map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// What was read of a part. What cannot be read is left out, with a warning.
    fn or_warn<T: Default>(&mut self, part: usize, path: &Path, read: io::Result<T>) -> T {
        read.unwrap_or_else(|error| {
            self.plan.warnings.push(format!("{}: {error}", self.parts[part].join(path).display()));
            T::default()
        })
    }

    fn add_suite(&mut self, part: usize, suite: &Path) -> io::Result<()> {
        for name in self.names(part, suite) {
            let path = suite.join(&name);
            match name.as_str() {
                // Base workspaces are removed at the end of a run.
                BASE_WORKSPACES => {}
                // What a session made is undone on the machine of the part.
                name if is_session_file(name) => {}
                SUITE_RECORD => self.add_suite_record(part, &path),
                CASES => {
                    for case in self.names(part, &path) {
                        self.find_case(part, path.join(case));
                    }
                }
                _ => self.add_other(part, &path)?,
            }
        }
        Ok(())
    }

    fn add_suite_record(&mut self, part: usize, path: &Path) {
        let suite: Option<SuiteRecord> = self.or_warn(part, path, read_run_record(&self.parts[part], path));
        let Some(suite) = suite else { return };
        match self.plan.suites.get_mut(path) {
            None => {
                self.plan.suites.insert(path.to_owned(), suite);
            }
            Some(known) if known.digest == suite.digest => add_tests(known, suite),
            Some(known) => self.problems.push(format!(
                "suite `{}` in {} differs from an earlier part: its files have changed",
                known.name,
                self.parts[part].display()
            )),
        }
    }

    fn find_case(&mut self, part: usize, path: PathBuf) {
        let record = path.join(CASE_RECORD);
        let case: Option<CaseRecord> = self.or_warn(part, &record, read_run_record(&self.parts[part], &record));
        let started = || {
            let file = path.join(trial_directory_name(0, 0)).join(TRIAL_STARTED);
            let started: Option<Started> = read_run_record(&self.parts[part], &file).unwrap_or_default();
            started.map(|started| test_of(&started.program, &started.test_name))
        };
        let test = case.as_ref().map(|case| test_of(&case.program, &case.test_name)).or_else(started);
        let is_requested = case.as_ref().is_some_and(|case| case.requested_by.is_some());
        self.found.push(FoundCase { part, path, test, id: case.map(|case| case.case_id.clone()), is_requested });
    }

    fn add_case(&mut self, case: FoundCase) -> io::Result<()> {
        let FoundCase { part, path, test, id, is_requested } = case;
        let path = path.as_path();
        let here = self.parts[part].join(path);
        // Where a suite is included several times, the first test of a case gets the directory without a test in its name:
        // on each machine that may have been a different test.
        let path = match &test {
            Some(test) => {
                let plain = with_test(path, None);
                let is_others = self.cases.get(&plain).is_some_and(|known| known.test.as_ref() != Some(test));
                &if is_others { with_test(path, Some(test)) } else { plain }
            }
            None => path,
        };
        let Some(known) = self.cases.get_mut(path) else {
            if id.is_some() {
                self.readable.insert(first_attempt(path));
            }
            self.plan.copies.insert(path.to_owned(), here.clone());
            self.cases.insert(path.to_owned(), CaseSource { part, directory: here, test, is_requested });
            return Ok(());
        };
        let there = known.directory.clone();
        if has_same_content(&there, &here)? {
            return Ok(());
        }
        let Some(id) = id else {
            let warning = format!("{} has no record that can be read; {} counts", here.display(), there.display());
            self.plan.warnings.push(warning);
            self.plan.copies.insert(shard_path(part, path), here);
            return Ok(());
        };
        if known.is_requested && !is_requested {
            // The record of the case's own test takes precedence.
            let shard_path = shard_path(known.part, path);
            *known = CaseSource { part, directory: here.clone(), test, is_requested };
            self.plan.copies.insert(shard_path, there);
            self.plan.copies.insert(path.to_owned(), here);
        } else if is_requested {
            self.plan.copies.insert(shard_path(part, path), here);
        } else {
            let message = format!("case `{id}` has different records: {} and {}", there.display(), here.display());
            self.problems.push(message);
        }
        Ok(())
    }

    /// Adds a file or directory that may differ between parts.
    fn add_other(&mut self, part: usize, path: &Path) -> io::Result<()> {
        let here = self.parts[part].join(path);
        match self.plan.copies.get(path) {
            None => {
                self.plan.copies.insert(path.to_owned(), here);
            }
            Some(there) if has_same_content(there, &here)? => {}
            Some(_) => {
                self.plan.copies.insert(shard_path(part, path), here);
            }
        }
        Ok(())
    }
}

/// The path of the directory of a case's first attempt.
fn first_attempt(path: &Path) -> PathBuf {
    let name = CaseDirectoryName::parse(&path.file_name().unwrap_or_default().to_string_lossy());
    path.with_file_name(CaseDirectoryName { attempt: 1, ..name }.to_string())
}

/// The path of a case's directory for a test; for `None`, without the digest of a test in its name.
fn with_test(path: &Path, test: Option<&str>) -> PathBuf {
    let name = CaseDirectoryName::parse(&path.file_name().unwrap_or_default().to_string_lossy());
    let is_digest = |test: &str| test.len() == 8 && test.chars().all(|digit| digit.is_ascii_hexdigit());
    let test = match test {
        Some(test) => {
            // The end of a test's path tells more than its beginning.
            let count = test.chars().count();
            let end: String = test.chars().skip(count.saturating_sub(TEST_LENGTH)).collect();
            Some(end.replace("::", "."))
        }
        None => name.test.clone().filter(|test| !is_digest(test)),
    };
    path.with_file_name(CaseDirectoryName { test, ..name }.to_string())
}

/// Most characters of a test in the name of a directory.
const TEST_LENGTH: usize = 100;

/// The path in the merged run of a part's file whose own path has different content from another part.
fn shard_path(part: usize, path: &Path) -> PathBuf {
    Path::new(SHARDS).join((part + 1).to_string()).join(path)
}

/// Reasons why these are not parts of one run.
fn contradictions(runs: &[RunRecord], parts: &[PathBuf]) -> Vec<String> {
    let mut problems = Vec::new();
    let Some(first) = runs.first() else { return problems };
    let git = runs.iter().find_map(|run| run.git.as_ref());
    for (run, part) in runs.iter().zip(parts) {
        if run.run_id != first.run_id {
            let message = format!("{} is run `{}`, not `{}`", part.display(), run.run_id, first.run_id);
            problems.push(format!("{message}: set EVALSUITE_RUN_ID to the same value on all machines"));
        }
        if let (Some(here), Some(there)) = (&run.git, git)
            && here.commit != there.commit
        {
            problems.push(format!("{} has records of commit {}, not {}", part.display(), here.commit, there.commit));
        }
    }
    problems
}

/// Warnings about hooks that parts still have to run.
fn pending_hooks(runs: &[RunRecord], parts: &[PathBuf]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (run, part) in runs.iter().zip(parts) {
        for suite in run.suites.iter().filter(|suite| suite.after_all == HookState::Pending) {
            let message = format!("the after_all hooks of suite `{}` are pending in {}", suite.name, part.display());
            warnings.push(format!("{message}\n  = help: run `cargo evalsuite finish` on its machine, then merge"));
        }
    }
    warnings
}

/// Warnings about parts whose digest of the agent is not that of an earlier part. Builds of one agent differ, too.
fn other_agents(runs: &[RunRecord], parts: &[PathBuf]) -> Vec<String> {
    let known: Vec<_> = runs.iter().zip(parts).filter_map(|(run, part)| Some((run.agent_digest()?, part))).collect();
    let Some(((first, with), others)) = known.split_first() else { return Vec::new() };
    let others = others.iter().filter(|(digest, _)| digest != first);
    let warning = |(_, part): &(&str, &PathBuf)| {
        let message = format!("{} has another {} than {}", part.display(), RunRecord::AGENT_DIGEST, with.display());
        format!("{message}\n  = help: if the agent is the same, set the variable to one value on all machines")
    };
    others.map(warning).collect()
}

/// One record for all parts, which contains theirs.
///
/// `suites` are its suites by the path of their record in the run.
fn merged_run(runs: &[RunRecord], suites: &BTreeMap<PathBuf, SuiteRecord>) -> RunRecord {
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
        if run.agent_digest().is_some_and(|digest| merged.agent_digest() != Some(digest)) {
            merged.env.insert(RunRecord::AGENT_DIGEST.to_owned(), None);
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

/// The test that ran a case: its program and its path.
fn test_of(file: &str, test: &str) -> String {
    format!("{}::{test}", program(file))
}

/// Adds the tests of a part that no earlier part has.
fn add_tests(known: &mut SuiteRecord, part: SuiteRecord) {
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

/// Whether two paths have the same content.
fn has_same_content(left: &Path, right: &Path) -> io::Result<bool> {
    let mut others = sorted_walk(right);
    for entry in sorted_walk(left) {
        let entry = entry?;
        let Some(other) = others.next().transpose()? else { return Ok(false) };
        let is_same_path = entry.path().strip_prefix(left).ok() == other.path().strip_prefix(right).ok();
        if !is_same_path || entry.file_type() != other.file_type() || !is_same_file(&entry, &other)? {
            return Ok(false);
        }
    }
    Ok(others.next().is_none())
}

fn is_same_file(one: &walkdir::DirEntry, other: &walkdir::DirEntry) -> io::Result<bool> {
    Ok(if one.path_is_symlink() {
        fs::read_link(one.path())? == fs::read_link(other.path())?
    } else if one.file_type().is_file() {
        one.metadata()?.len() == other.metadata()?.len()
            && sha256_of(open(one.path())?)? == sha256_of(open(other.path())?)?
    } else {
        true
    })
}

/// Copies a file, link or directory to a path where nothing is.
pub(super) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let mut directories = Vec::new();
    for entry in sorted_walk(from) {
        let entry = entry?;
        let relative = entry.path().strip_prefix(from).unwrap_or(Path::new(""));
        // Joined with an empty path, a file would become a directory.
        let target = if entry.depth() == 0 { to.to_owned() } else { to.join(relative) };
        if entry.path_is_symlink() {
            link(entry.path(), &target)?;
        } else if entry.file_type().is_dir() {
            fs::create_dir_all(&target)?;
            directories.push((target, entry.metadata()?.permissions()));
        } else if entry.file_type().is_file() {
            let mut source = open(entry.path())?;
            io::copy(&mut source, &mut File::create_new(&target)?)?;
            fs::set_permissions(&target, source.metadata()?.permissions())?;
        }
        // Sockets and pipes belong to processes on the machine of the part.
    }
    // After their content: a directory may be read-only.
    directories.into_iter().rev().try_for_each(|(directory, permissions)| fs::set_permissions(directory, permissions))
}

/// Opens a regular file of a part.
fn open(path: &Path) -> io::Result<File> {
    open_run_file(path.parent().unwrap_or(Path::new("")), Path::new(path.file_name().unwrap_or_default()))
}

fn sorted_walk(path: &Path) -> impl Iterator<Item = walkdir::Result<walkdir::DirEntry>> {
    WalkDir::new(path).follow_root_links(false).sort_by_file_name().into_iter()
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    let destination = fs::read_link(from)?;
    if from.is_dir() {
        std::os::windows::fs::symlink_dir(destination, to)
    } else {
        std::os::windows::fs::symlink_file(destination, to)
    }
}
