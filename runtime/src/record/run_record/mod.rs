//! `run.json` and `suite.json`: what a run is and which suites belong to it.
//!
//! The first test of a suite writes them. All others find its mark, at the cost of one look at the disk, however large the
//! suite and the run are.

pub(crate) mod surroundings;

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use evalsuite_schema::{
    Suite,
    record::{RunRecord, SuiteDiagnostic, SuiteRecord, SuiteRun, SuiteTest},
};

use crate::{
    model::{
        suite::EvalSuite,
        suite_location::{Places, program},
    },
    platform::{
        clock::timestamp,
        digest::{file_key, sha256},
        environment,
        file_lock::FileLock,
        files::{read_json, replace, write_json},
        process::echo::Echo,
        redaction::Redactor,
    },
    record::run_directory::RunDirectory,
};

/// A suite that takes part in a run.
pub(crate) struct SuiteOfRun<'a> {
    pub(crate) suite: &'static EvalSuite,
    pub(crate) data: &'a Suite,
    pub(crate) places: &'a Places,
    pub(crate) run: &'a RunDirectory,
    pub(crate) redactor: &'a Redactor,
    pub(crate) echo: Echo,
}

/// Notes that tests of a suite run, and makes a new run the newest one.
///
/// # Errors
///
/// If the records cannot be written or read.
pub(crate) fn register(suite: &SuiteOfRun<'_>) -> io::Result<()> {
    static KNOWN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mark = suite.mark();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.contains(&mark) {
        return Ok(());
    }
    if !mark.exists() {
        suite.enter(&mark)?;
    }
    known.insert(mark);
    Ok(())
}

/// Changes what `run.json` says about a suite that is registered.
///
/// # Errors
///
/// If the record cannot be read or written.
pub(crate) fn update(
    run: &RunDirectory,
    suite: &str,
    redactor: &Redactor,
    change: impl FnOnce(&mut SuiteRun),
) -> io::Result<()> {
    let _lock = lock(run)?;
    let path = run.path().join("run.json");
    let mut record: RunRecord = read_json(&path)?
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{} is gone", path.display())))?;
    if let Some(entry) = record.suites.iter_mut().find(|entry| entry.name == suite) {
        change(entry);
    }
    write_json(&path, &record, redactor)
}

fn lock(run: &RunDirectory) -> io::Result<FileLock> {
    FileLock::acquire(&run.locks().join("run.lock"))
}

impl SuiteOfRun<'_> {
    /// A suite can be included several times, in one test program and in several.
    fn mark(&self) -> PathBuf {
        let place = format!("{}\0{}\0{}", self.suite.name, program(), self.suite.module_path);
        self.run.locks().join(format!("suite-{}", &sha256(place)[..16]))
    }

    fn enter(&self, mark: &Path) -> io::Result<()> {
        let _lock = lock(self.run)?;
        if mark.exists() {
            return Ok(());
        }
        let path = self.run.path().join("run.json");
        let known = read_json(&path)?;
        if known.is_none() {
            self.run.mark_latest()?;
        }
        let mut record = known.unwrap_or_else(|| self.new_run());
        let tests = u32::try_from(self.suite.cases.len()).unwrap_or(u32::MAX);
        match record.suites.iter_mut().find(|entry| entry.name == self.suite.name) {
            Some(entry) => entry.tests = entry.tests.saturating_add(tests),
            None => record.suites.push(SuiteRun::new(self.suite.name, self.suite.package, tests)),
        }
        self.add_tests()?;
        write_json(&path, &record, self.redactor)?;
        replace(mark, b"")
    }

    fn new_run(&self) -> RunRecord {
        let mut record = RunRecord::new();
        record.run_id = self.run.run_id.clone();
        record.started_at = timestamp();
        record.package = self.suite.package.to_owned();
        record.package_version = self.suite.package_version.to_owned();
        record.git = surroundings::git(&self.places.package_root, self.echo);
        record.ci = surroundings::ci(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        record.env = surroundings::settings(
            environment::of_file().map(|(name, value)| (name.into(), value.into())).chain(std::env::vars_os()),
        );
        record
    }

    fn add_tests(&self) -> io::Result<()> {
        let path = self.run.path().join("suites").join(file_key(self.suite.name)).join("suite.json");
        let mut record = read_json(&path)?.unwrap_or_else(|| {
            let mut record = SuiteRecord::new();
            record.name = self.suite.name.to_owned();
            record.kind = self.data.kind;
            record.layout = self.data.layout;
            record.digest = self.data.digest.clone();
            record
        });
        for (name, message) in self.suite.diagnostics {
            let diagnostic = SuiteDiagnostic::new(*name, *message);
            if !record.diagnostics.contains(&diagnostic) {
                record.diagnostics.push(diagnostic);
            }
        }
        let program = program();
        record.tests.extend(self.suite.cases.iter().map(|case| {
            let mut test = SuiteTest::new(program.as_str(), self.suite.test_path(case), case.id);
            test.target = case.target.map(str::to_owned);
            test
        }));
        write_json(&path, &record, self.redactor)
    }
}
