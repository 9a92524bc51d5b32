//! What goes where, found out before anything is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use evalsuite::record::{CaseRecord, RunRecord, SuiteRecord};

use super::{record, tree};
use crate::runs::read;

/// A merge that nothing stands against.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) run: RunRecord,
    pub(super) cases: usize,
    /// What is worth saying about parts that can be merged all the same.
    pub(super) warnings: Vec<String>,
    /// Files and directories, by where they go in the run.
    pub(super) places: BTreeMap<PathBuf, PathBuf>,
    pub(super) suites: BTreeMap<PathBuf, SuiteRecord>,
    /// Lines of the ledgers.
    pub(super) spend: String,
}

/// A part that stands at a place.
struct Taken {
    part: usize,
    /// The test whose record it is, and where it lies in that part.
    test: Option<String>,
    from: PathBuf,
    /// Whether another case made it run, so that it may run in several parts.
    is_requested: bool,
}

impl Plan {
    /// # Errors
    ///
    /// If a part cannot be read, or with everything in which the parts contradict each other.
    pub(super) fn new(parts: &[PathBuf]) -> io::Result<Result<Self, Vec<String>>> {
        let mut runs = Vec::new();
        let mut problems = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if parts[..index].contains(part) {
                problems.push(format!("{} is named twice", part.display()));
            }
            match read::<RunRecord>(&part.join("run.json"))? {
                Some(run) => runs.push(run),
                None => problems.push(format!("{} has no run.json", part.display())),
            }
        }
        if !problems.is_empty() {
            return Ok(Err(problems));
        }
        problems.extend(record::contradictions(&runs, parts));
        let mut merge = Merge { parts, plan: Self::empty(&runs), taken: BTreeMap::new(), problems };
        for index in 0..parts.len() {
            merge.add(index)?;
        }
        let Merge { mut plan, problems, .. } = merge;
        plan.run = record::merged(&runs, plan.suites.values());
        plan.warnings = record::pending(&runs, parts);
        Ok(if problems.is_empty() { Ok(plan) } else { Err(problems) })
    }

    fn empty(runs: &[RunRecord]) -> Self {
        Self {
            run: record::merged(runs, []),
            cases: 0,
            warnings: Vec::new(),
            places: BTreeMap::new(),
            suites: BTreeMap::new(),
            spend: String::new(),
        }
    }
}

struct Merge<'a> {
    parts: &'a [PathBuf],
    plan: Plan,
    taken: BTreeMap<PathBuf, Taken>,
    problems: Vec<String>,
}

impl Merge<'_> {
    fn add(&mut self, part: usize) -> io::Result<()> {
        for name in names(&self.parts[part])? {
            match name.as_str() {
                // They speak of processes on the machine of the part, or are made anew.
                "locks" | "summary.json" | "run.json" | "shards" => {}
                "spend.jsonl" => {
                    let lines = fs::read_to_string(self.parts[part].join(&name))?;
                    self.plan.spend.extend(lines.split_inclusive('\n').filter(|line| line.ends_with('\n')));
                }
                "suites" => {
                    for suite in names(&self.parts[part].join("suites"))? {
                        self.add_suite(part, &Path::new("suites").join(suite))?;
                    }
                }
                _ => self.beside(part, Path::new(&name))?,
            }
        }
        Ok(())
    }

    fn add_suite(&mut self, part: usize, suite: &Path) -> io::Result<()> {
        for name in names(&self.parts[part].join(suite))? {
            let path = suite.join(&name);
            match name.as_str() {
                // Base workspaces are removed at the end of a run.
                "base" => {}
                // Whoever has made something is who undoes it, on the machine where it is.
                name if is_of_session(name) => {}
                "suite.json" => self.add_suite_record(part, &path)?,
                "cases" => {
                    for case in names(&self.parts[part].join(&path))? {
                        self.add_case(part, &path.join(case))?;
                    }
                }
                _ => self.beside(part, &path)?,
            }
        }
        Ok(())
    }

    fn add_suite_record(&mut self, part: usize, path: &Path) -> io::Result<()> {
        let Some(suite) = read::<SuiteRecord>(&self.parts[part].join(path))? else { return Ok(()) };
        match self.plan.suites.get_mut(path) {
            None => {
                self.plan.suites.insert(path.to_owned(), suite);
            }
            Some(known) if known.digest == suite.digest => record::add_tests(known, suite),
            Some(known) => self.problems.push(format!(
                "suite `{}` in {} is another one than before: its files differ",
                known.name,
                self.parts[part].display()
            )),
        }
        Ok(())
    }

    fn add_case(&mut self, part: usize, path: &Path) -> io::Result<()> {
        let here = self.parts[part].join(path);
        let case = read::<CaseRecord>(&here.join("case.json"))?;
        let is_requested = case.as_ref().is_some_and(|case| case.requested_by.is_some());
        let test = case.as_ref().map(record::test);
        // Where a suite is included several times, the first of a case's tests to come has the plain name: on each machine
        // that may have been another one.
        let path = match &test {
            Some(test) => {
                let plain = plain(path);
                let is_others = self.taken.get(&plain).is_some_and(|taken| taken.test.as_ref() != Some(test));
                &if is_others { named_by_test(&plain, test) } else { plain }
            }
            None => path,
        };
        let Some(taken) = self.taken.get_mut(path) else {
            self.plan.cases += usize::from(case.is_some());
            self.plan.places.insert(path.to_owned(), here.clone());
            self.taken.insert(path.to_owned(), Taken { part, test, from: here, is_requested });
            return Ok(());
        };
        let there = taken.from.clone();
        if tree::same(&there, &here)? {
            return Ok(());
        }
        if taken.is_requested && !is_requested {
            // The record of the case's own test is the one that counts.
            let aside = aside(taken.part, path);
            *taken = Taken { part, test, from: here.clone(), is_requested };
            self.plan.places.insert(aside, there);
            self.plan.places.insert(path.to_owned(), here);
        } else if is_requested {
            self.plan.places.insert(aside(part, path), here);
        } else {
            let id = case.map_or_else(|| path.display().to_string(), |case| format!("case `{}`", case.case_id));
            self.problems.push(format!("{id} has different records: {} and {}", there.display(), here.display()));
        }
        Ok(())
    }

    /// A file or directory of which each part may have its own.
    fn beside(&mut self, part: usize, path: &Path) -> io::Result<()> {
        let here = self.parts[part].join(path);
        match self.plan.places.get(path) {
            None => {
                self.plan.places.insert(path.to_owned(), here);
            }
            Some(there) if tree::same(there, &here)? => {}
            Some(_) => {
                self.plan.places.insert(aside(part, path), here);
            }
        }
        Ok(())
    }
}

/// The place of a case's directory without the digest of the test that has it: `KEY.test-01234567.attempt-2` is
/// `KEY.attempt-2`.
fn plain(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some((key, rest)) = name.split_once(OF_TEST) else { return path.to_owned() };
    match rest.split_at_checked(8) {
        Some((digest, rest)) if digest.chars().all(|digit| digit.is_ascii_hexdigit()) => {
            path.with_file_name(format!("{key}{rest}"))
        }
        _ => path.to_owned(),
    }
}

/// What stands before the digest of a test.
const OF_TEST: &str = ".test-";

/// Where the record of a case goes whose place has that of another test of the case.
fn named_by_test(path: &Path, test: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The end of a test's path tells more than its beginning.
    let count = test.chars().count();
    let test: String = test.chars().skip(count.saturating_sub(NAMED)).collect();
    path.with_file_name(format!("{name}{OF_TEST}{}", test.replace("::", ".")))
}

/// Most characters of a test in the name of a directory.
const NAMED: usize = 100;

/// Whether a file says what a suite still has to undo, or which of its tests are done.
fn is_of_session(name: &str) -> bool {
    name.starts_with("finished") || name.starts_with("session") && name.ends_with(".json")
}

/// Where something goes whose place is taken by another part.
fn aside(part: usize, path: &Path) -> PathBuf {
    Path::new("shards").join((part + 1).to_string()).join(path)
}

fn names(directory: &Path) -> io::Result<BTreeSet<String>> {
    fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
