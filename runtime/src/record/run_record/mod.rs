//! `run.json` and `suite.json`: a run and its suites.
//!
//! The first test of a suite writes them and a marker file. All other tests only check the marker, so their cost does
//! not depend on the size of suite and run. The first test of the run also asks git for the state of the repository,
//! while its case runs.

pub(crate) mod surroundings;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use evalsuite_discovery::workspace_around;
use evalsuite_records::probe::read_probe;
use evalsuite_records::record::{ProbeRates, RunRecord, SuiteDiagnostic, SuiteRecord, SuiteRun, SuiteTest};
use evalsuite_schema::Suite;
use evalsuite_schema::sorting::map;

use crate::model::suite::{EvalCase, EvalSuite};
use crate::model::suite_location::{SuiteLocation, package_directory, program};
use crate::platform::clock::timestamp;
use crate::platform::digest::sha256;
use crate::platform::file_lock::FileLock;
use crate::platform::files::{read_json, replace_file, write_json};
use crate::platform::process::echo::Echo;
use crate::platform::redaction::Redactor;
use crate::platform::{environment, notice};
use crate::record::run_directory::RunDirectory;
use crate::record::run_directory::layout::SUITE_RECORD;

/// A suite and its run.
pub(crate) struct SuiteOfRun<'a> {
    pub(crate) suite: &'static EvalSuite,
    pub(crate) data: &'a Suite,
    pub(crate) location: &'a SuiteLocation,
    pub(crate) run: &'a RunDirectory,
    pub(crate) redactor: &'a Redactor,
    pub(crate) echo: Echo,
}

/// Adds a suite to the records of its run, and makes a new run the newest one. The answer is a question to git in a new run.
pub(crate) fn register(suite: &SuiteOfRun<'_>) -> io::Result<Option<GitQuery>> {
    static REGISTERED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mark = suite.mark();
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    if registered.contains(&mark) {
        return Ok(None);
    }
    let git = if mark.exists() { None } else { suite.add_to_records(&mark)? };
    registered.insert(mark);
    Ok(git)
}

/// Changes the entry of a registered suite, given by its directory, in `run.json`.
pub(crate) fn update(
    run: &RunDirectory,
    suite: &str,
    redactor: &Redactor,
    change: impl FnOnce(&mut SuiteRun),
) -> io::Result<()> {
    update_run(run, redactor, |record| {
        if let Some(entry) = record.suites.iter_mut().find(|entry| entry.directory == suite) {
            change(entry);
        }
    })
}

fn update_run(run: &RunDirectory, redactor: &Redactor, change: impl FnOnce(&mut RunRecord)) -> io::Result<()> {
    let _lock = lock(run)?;
    let path = run.record_file();
    let mut record: RunRecord = read_json(&path)?.ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("{} does not exist any more", path.display()))
    })?;
    change(&mut record);
    write_json(&path, &record, redactor)
}

fn lock(run: &RunDirectory) -> io::Result<FileLock> {
    FileLock::acquire(&run.locks().join("run.lock"))
}

/// Git is asked for the state of the repository, which is added to `run.json`. Dropping this waits for that.
#[must_use = "dropping it waits for git"]
pub(crate) struct GitQuery(Option<JoinHandle<io::Result<()>>>);

impl GitQuery {
    fn start(suite: &SuiteOfRun<'_>) -> Self {
        let (run, redactor, echo) = (suite.run.clone(), suite.redactor.clone(), suite.echo);
        let package = suite.location.package_root.clone();
        let ask = move || match surroundings::git(&package, echo) {
            Some(state) => update_run(&run, &redactor, |record| record.git = Some(state)),
            None => Ok(()),
        };
        Self(Builder::new().spawn(ask).map_err(|error| report(&error)).ok())
    }
}

impl Drop for GitQuery {
    fn drop(&mut self) {
        // The panic hook has reported a panic.
        if let Some(Ok(Err(error))) = self.0.take().map(JoinHandle::join) {
            report(&error);
        }
    }
}

fn report(error: &io::Error) {
    notice::say(&format!("the state of the repository is not recorded: {error}"));
}

impl SuiteOfRun<'_> {
    /// The mark of one inclusion of the suite: one or several test programs can include it several times.
    fn mark(&self) -> PathBuf {
        let place = format!("{}\0{}\0{}", self.suite.key(), program(), self.suite.module_path);
        self.run.locks().join(format!("suite-{}", &sha256(place)[..16]))
    }

    fn add_to_records(&self, mark: &Path) -> io::Result<Option<GitQuery>> {
        let _lock = lock(self.run)?;
        if mark.exists() {
            return Ok(None);
        }
        let path = self.run.record_file();
        let known = read_json(&path)?;
        let is_new = known.is_none();
        if is_new {
            self.run.mark_latest()?;
        }
        let mut record = known.unwrap_or_else(|| self.new_run());
        let tests = u32::try_from(self.suite.cases.len()).unwrap_or(u32::MAX);
        let directory = self.suite.key();
        match record.suites.iter_mut().find(|entry| entry.directory == directory) {
            Some(entry) => entry.tests = entry.tests.saturating_add(tests),
            None => {
                let mut entry = SuiteRun::new(self.suite.name, self.suite.package, tests);
                entry.directory = directory;
                record.suites.push(entry);
            }
        }
        self.add_tests()?;
        write_json(&path, &record, self.redactor)?;
        replace_file(mark, b"")?;
        Ok(is_new.then(|| GitQuery::start(self)))
    }

    fn new_run(&self) -> RunRecord {
        let mut record = RunRecord::new();
        record.run_id = self.run.run_id.clone();
        record.started_at = timestamp();
        record.package = self.suite.package.to_owned();
        record.package_version = self.suite.package_version.to_owned();
        record.ci = surroundings::ci(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        let of_file = environment::of_file().into_iter().map(|(name, value)| (name.into(), value.into()));
        record.env = surroundings::settings(of_file.chain(std::env::vars_os()).collect());
        record
    }

    /// What is known from a probe of the cases as they are now. A file that cannot be read is an error of the command that wrote it.
    fn probe_rates(&self) -> Option<ProbeRates> {
        let mut probe = read_probe(&package_directory(self.suite), &self.suite.id()).ok()??;
        let digest = |case: &EvalCase| case.json.digests().map(|digests| digests.case);
        // A case that was read again has no digest yet.
        probe.retain_current(&map(self.suite.cases.iter().map(|case| ((case.id, case.target), digest(case)))));
        ProbeRates::of(&probe)
    }

    fn add_tests(&self) -> io::Result<()> {
        let path = self.run.suite(&self.suite.key()).join(SUITE_RECORD);
        let mut record = read_json(&path)?.unwrap_or_else(|| {
            let mut record = SuiteRecord::new();
            record.name = self.suite.name.to_owned();
            record.package = self.suite.package.to_owned();
            record.package_directory = package_in_workspace(self.suite);
            record.path = self.suite.path_in_package().into_owned();
            record.kind = self.data.kind;
            record.layout = self.data.layout;
            record.digest = self.data.digest.clone();
            record.gates.clone_from(&self.data.gates);
            record.probe = self.probe_rates();
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
            test.module = self.suite.module_path.to_owned();
            test
        }));
        write_json(&path, &record, self.redactor)
    }
}

/// Directory of the suite's package relative to the workspace around it, with `/` separators; `.` for the workspace itself.
pub(crate) fn package_in_workspace(suite: &EvalSuite) -> String {
    let package = package_directory(suite);
    let workspace = workspace_around(&package);
    let below = package.strip_prefix(&workspace).unwrap_or(Path::new("")).components();
    let parts: Vec<_> = below.map(|part| part.as_os_str().to_string_lossy()).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}
