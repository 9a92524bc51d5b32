//! Reads a run from its directory, for summaries and reports. A case that started and has no record is an error, unless its test is
//! still running. Of several attempts of the test runner, one measures the agent.

mod read_run;
mod read_suite;
#[cfg(test)]
mod tests;
mod trial_files;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::record::{
    CalibrationRecord, CaseRecord, Started, Status, SuiteId, SuiteRecord, SuiteTest, TrialRecord, TrialSummary,
};
use crate::run_directory::CaseDirectoryName;

pub use self::read_run::{
    RunData, SuiteNames, comparable_of_commit, comparable_of_same_agent, earlier_comparable, earlier_runs,
    newest_outcomes, runs_of_same_agent,
};
pub(crate) use self::read_suite::suites_without_records;
pub use self::read_suite::{read_record, suites_of};
pub use self::trial_files::{TextFile, TrialFiles};

/// A suite of a run.
#[derive(Debug, Clone, Default)]
pub struct SuiteData {
    /// Displayed name of the suite, see [`SuiteId::labels`]; also in the records of its cases.
    pub name: String,
    /// Identity of the suite.
    pub id: SuiteId,
    /// Its directory.
    pub directory: PathBuf,
    /// `suite.json`; `None` if it is missing or cannot be read.
    pub record: Option<SuiteRecord>,
    /// Paths of the tests that were chosen; `None` if the run does not say.
    pub chosen: Option<BTreeSet<String>>,
    /// `calibration.json`, if judges were calibrated in the run; only `RunData` reads it.
    pub calibration: Option<CalibrationRecord>,
    /// Its cases that ended or died, in the suite's order; of several runner attempts at a case, the last one.
    pub cases: Vec<CaseData>,
    /// The cases that are still running.
    pub running: Vec<Started>,
    /// What could not be read, in the order in which it was found.
    pub problems: Vec<Problem>,
}

/// A case of a run, for one target and one test.
#[derive(Debug, Clone)]
pub struct CaseData {
    /// Name of its directory.
    pub name: CaseDirectoryName,
    /// Its directory, relative to the run directory.
    pub directory: PathBuf,
    /// Its record; for an unfinished case, the data of its trials.
    pub record: CaseRecord,
    /// Its trials, in order; empty with [`ReadDepth::Cases`].
    pub trials: Vec<TrialData>,
    /// The other runner attempts, the first one first.
    pub other_attempts: Vec<CaseData>,
    /// Its records in the runs that are counted together, in their order; empty if the case is of one run.
    pub of_runs: Vec<CaseRecord>,
}

/// A trial of a run.
#[derive(Debug, Clone)]
pub struct TrialData {
    /// Its directory, relative to the run directory.
    pub directory: PathBuf,
    /// Its record; for an unfinished trial, the data of its case.
    pub record: TrialRecord,
}

/// A file of a run that is missing or cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, relative to the run directory, with `/` separators.
    pub file: String,
    /// What is wrong with it, or why it is missing.
    pub message: String,
    about: Affected,
}

/// What a problem is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Affected {
    File,
    /// A case whose process died, by its id and target.
    Died(String, String),
    /// A case whose test is running.
    Running(String, String),
}

/// How much of the cases is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadDepth {
    /// Their records.
    Cases,
    /// Their records and those of their trials.
    Trials,
}

impl SuiteData {
    /// Calls the suite by another name, in all its records.
    fn rename(&mut self, name: &str) {
        self.cases.iter_mut().for_each(|case| case.rename_suite(name));
        name.clone_into(&mut self.name);
    }

    /// Its cases by target, in the order in which the targets first occur.
    pub fn by_target(&self) -> Vec<(&str, Vec<&CaseData>)> {
        let mut targets: Vec<(&str, Vec<&CaseData>)> = Vec::new();
        for case in &self.cases {
            let target = case.record.target.as_str();
            match targets.iter_mut().find(|(name, _)| *name == target) {
                Some((_, cases)) => cases.push(case),
                None => targets.push((target, vec![case])),
            }
        }
        targets
    }

    /// Paths of the tests that have no result and are not running, without those that are known not to be chosen.
    pub fn not_started(&self) -> Vec<String> {
        self.tests_not_started().map(|test| test.test_name.clone()).collect()
    }

    /// The tests that are known to be chosen, and have no result and are not running.
    pub fn chosen_and_not_started(&self) -> Vec<&SuiteTest> {
        self.chosen.iter().flat_map(|_| self.tests_not_started()).collect()
    }

    fn tests_not_started(&self) -> impl Iterator<Item = &SuiteTest> {
        let ended = self.cases.iter().map(|case| &case.record);
        let ended = ended.map(|record| [&record.test_name, &record.program, &record.case_id]);
        let running = self.running.iter().map(|started| [&started.test_name, &started.program, &started.case_id]);
        let started: BTreeSet<[&str; 2]> = ended
            .chain(running)
            .map(|[test, program, case]| match test.as_str() {
                // Records of earlier versions have no test.
                "" => ["", case.as_str()],
                test => [test, program.as_str()],
            })
            .collect();
        let has_started = move |test: &SuiteTest| {
            let keys = [[test.test_name.as_str(), test.program.as_str()], [&test.test_name, ""], ["", &test.case_id]];
            keys.iter().any(|key| started.contains(key))
        };
        let tests = self.record.iter().flat_map(|record| &record.tests);
        let is_chosen = |test: &&SuiteTest| self.chosen.as_ref().is_none_or(|chosen| chosen.contains(&test.test_name));
        tests.filter(is_chosen).filter(move |test| !has_started(test))
    }
}

impl CaseData {
    fn rename_suite(&mut self, name: &str) {
        name.clone_into(&mut self.record.suite);
        self.trials.iter_mut().for_each(|trial| name.clone_into(&mut trial.record.suite));
        self.other_attempts.iter_mut().for_each(|attempt| attempt.rename_suite(name));
    }

    /// Whether it passed although a trial, or an earlier attempt of the test runner, failed or ended in an error.
    pub fn is_flaky(&self) -> bool {
        let counts = &self.record;
        let has_failed = counts.passed < counts.completed || counts.errors > 0 || counts.runner_attempt > 1;
        counts.outcome == Status::Passed && has_failed
    }
}

impl Problem {
    /// A problem of a file in or below the directory `run`.
    pub fn new(run: &Path, file: &Path, message: impl Into<String>) -> Self {
        let names = file.strip_prefix(run).unwrap_or(file).iter().map(|name| name.to_string_lossy());
        Self { file: names.collect::<Vec<_>>().join("/"), message: message.into(), about: Affected::File }
    }

    /// The value, or none after adding the problem that a file of a run has.
    fn add_of<T: Default>(result: io::Result<T>, run: &Path, file: &Path, problems: &mut Vec<Self>) -> T {
        result.unwrap_or_else(|error| {
            problems.push(Self::new(run, file, error.to_string()));
            T::default()
        })
    }

    /// Whether a file is missing or cannot be read for another reason than that the process that writes it runs or died.
    pub fn is_of_file(&self) -> bool {
        self.about == Affected::File
    }

    /// The problem as a sentence of a summary.
    pub fn sentence(&self) -> String {
        let Self { file, message, about } = self;
        match about {
            Affected::Died(case, target) => {
                format!("evaluation error (agent/process_died): case `{case}` (target `{target}`)  {message}")
            }
            Affected::Running(case, target) => format!("case `{case}` (target `{target}`) {message}"),
            Affected::File => {
                let case = match file.split('/').collect::<Vec<_>>().as_slice() {
                    [_, _, "cases", case, _, ..] => format!("case `{case}`  "),
                    _ => String::new(),
                };
                format!("evaluation error (records): {case}{file}: {message}")
            }
        }
    }
}

// Which attempt of the test runner measures the agent.
//
// The result of a run is that of the last attempt, as the runner shows it. But a runner repeats only tests that fail, and stops with the first
// success: an agent that passes in half of its trials passes in 15 of 16 last attempts out of up to four. The first attempt with a result is the
// only one that was not chosen by its outcome.

impl RunData {
    /// The run as comparisons, gates and rates count it: of a case that the test runner repeated, the first attempt that passed or failed, with
    /// its trials. Runs that are counted together are counted so before.
    pub fn measured(&self) -> Cow<'_, Self> {
        let is_as_measured = !self.counted_runs.is_empty() || self.suites.iter().all(SuiteData::is_as_measured);
        if is_as_measured { Cow::Borrowed(self) } else { Cow::Owned(self.clone().into_measured()) }
    }

    /// The same without a copy.
    #[must_use]
    pub fn into_measured(mut self) -> Self {
        if self.counted_runs.is_empty() {
            self.suites = self.suites.into_iter().map(SuiteData::into_measured).collect();
        }
        self
    }

    /// Number of cases that the test runner repeated.
    pub fn repeated_cases(&self) -> usize {
        self.suites.iter().map(SuiteData::repeated_cases).sum()
    }
}

impl SuiteData {
    /// The suite as comparisons, gates and rates count it, see [`RunData::measured`].
    pub fn measured(&self) -> Cow<'_, Self> {
        if self.is_as_measured() { Cow::Borrowed(self) } else { Cow::Owned(self.clone().into_measured()) }
    }

    /// Number of cases that the test runner repeated.
    pub fn repeated_cases(&self) -> usize {
        self.cases.iter().filter(|case| !case.other_attempts.is_empty()).count()
    }

    fn is_as_measured(&self) -> bool {
        self.cases.iter().all(|case| case.first_result().is_none())
    }

    fn into_measured(mut self) -> Self {
        self.cases = self.cases.into_iter().map(CaseData::into_measured).collect();
        self
    }
}

impl CaseData {
    /// The case with these other attempts, whose cost is counted: trials and attempts that count only with their cost are in `retried`.
    fn with_other_attempts(mut self, others: Vec<Self>) -> Self {
        for CaseData { directory, record, .. } in &others {
            let all = record.trials.iter().chain(record.uncounted_trials());
            let name = directory.file_name().unwrap_or_default().to_string_lossy();
            let of_other =
                |trial: &TrialSummary| TrialSummary { path: format!("../{name}/{}", trial.path), ..trial.clone() };
            self.record.retried.extend(all.map(of_other));
        }
        self.other_attempts = others;
        self
    }

    /// Index of the other attempt that measures the agent; `None` if this one does.
    fn first_result(&self) -> Option<usize> {
        let has_result = |case: &Self| matches!(case.record.outcome, Status::Passed | Status::Failed);
        let others = self.other_attempts.iter().enumerate().filter(|(_, attempt)| has_result(attempt));
        let (index, first) = others.min_by_key(|(_, attempt)| attempt.name.attempt)?;
        (!has_result(self) || first.name.attempt < self.name.attempt).then_some(index)
    }

    fn into_measured(mut self) -> Self {
        let Some(index) = self.first_result() else { return self };
        let mut others = std::mem::take(&mut self.other_attempts);
        // Without the cost of the others, as it was read.
        let added: usize = others.iter().map(|it| it.record.trials.len() + it.record.uncounted_trials().count()).sum();
        self.record.retried.truncate(self.record.retried.len().saturating_sub(added));
        let first = others.remove(index);
        others.push(self);
        others.sort_by_key(|attempt| attempt.name.attempt);
        first.with_other_attempts(others)
    }
}
