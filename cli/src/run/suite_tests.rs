//! Tests of suites, by what identifies them, and the record of those that were chosen for a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use evalsuite_records::file_lock::FileLock;
use evalsuite_records::file_replacement::{remove_if_exists, replace_file};
use evalsuite_records::record::{ChosenTests, SuiteId};
use evalsuite_records::run_directory::{CHOSEN, OutputDirectory, StoredRun, read_run_record};

use crate::platform::exit_status::{ErrorContext, Result};

/// What identifies a test: packages and test programs may have tests with the same paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TestKey {
    /// Path of the test, which the keys are sorted by.
    pub(super) test: String,
    pub(super) package: String,
    pub(super) module: String,
}

impl TestKey {
    /// A test of a suite.
    pub(super) fn new(suite: &SuiteId, test: &str) -> Self {
        Self { test: test.to_owned(), package: suite.package.clone(), module: suite.module.clone() }
    }

    /// Name of the crate of its test program.
    pub(super) fn program(&self) -> &str {
        self.module.split("::").next().unwrap_or_default()
    }
}

/// Tests of suites.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SuiteTests {
    /// The tests of cases.
    pub(super) cases: BTreeSet<TestKey>,
    /// The tests that check the suites of these cases.
    pub(super) checks: BTreeSet<TestKey>,
}

impl SuiteTests {
    /// The paths of all of them, sorted.
    pub(super) fn tests(&self) -> Vec<String> {
        let paths: BTreeSet<&String> = self.keys().map(|test| &test.test).collect();
        paths.into_iter().cloned().collect()
    }

    /// All of them.
    pub(super) fn keys(&self) -> impl Iterator<Item = &TestKey> {
        self.cases.iter().chain(&self.checks)
    }

    /// The tests with the same value of a key, by that value.
    pub(super) fn by(&self, key: impl Fn(&TestKey) -> String) -> BTreeMap<String, Self> {
        let mut groups: BTreeMap<String, Self> = BTreeMap::new();
        for case in &self.cases {
            groups.entry(key(case)).or_default().cases.insert(case.clone());
        }
        for check in &self.checks {
            groups.entry(key(check)).or_default().checks.insert(check.clone());
        }
        groups
    }

    /// Adds the tests of cases to those that were chosen for a run before, so that others which do not start are not taken for lost. Of a run
    /// of a test runner it stays unknown which tests were chosen.
    pub(super) fn record(&self, output: &OutputDirectory, run: &Path) -> Result<()> {
        // Other calls for the run add theirs at the same time. The lock is not in the run, which may remain without records.
        let _lock = FileLock::acquire(&output.path().join("chosen.lock"))?;
        // The end of the run names a record that cannot be read.
        let known = read_run_record(run, Path::new(CHOSEN)).unwrap_or_default();
        if known.is_none() && StoredRun::open(run).is_some() {
            return Ok(());
        }
        let mut all: ChosenTests = known.unwrap_or_else(ChosenTests::new);
        self.cases.iter().for_each(|case| all.add(&case.package, &case.module, [case.test.clone()]));
        fs::create_dir_all(run).at(run)?;
        let file = run.join(CHOSEN);
        replace_file(&file, &serde_json::to_vec(&all)?).at(&file)
    }

    /// Removes what was recorded for a run in which no test started.
    pub(super) fn remove_record(run: &Path) -> Result<()> {
        remove_if_exists(&run.join(CHOSEN))?;
        // It may have other files.
        let _ = fs::remove_dir(run);
        Ok(())
    }

    /// Only these tests of cases, with the tests that check their suites if `checks`.
    pub(super) fn only(&self, cases: &BTreeSet<TestKey>, checks: bool) -> Self {
        let checks = if checks { self.checks.clone() } else { BTreeSet::new() };
        Self { cases: cases.clone(), checks }
    }
}
