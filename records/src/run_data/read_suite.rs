//! Reads the suites of a run and the trials of their cases, and chooses the records that count.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use evalsuite_schema::json::FromJson;

use super::{Affected, CaseData, Problem, ReadDepth, SuiteData, TrialData};
use crate::digest::case_key;
use crate::file_lock::FileLock;
use crate::record::{
    CaseRecord, ChosenTests, Reason, ReasonCode, RunRecord, Stage, Started, Status, SuiteId, SuiteRecord, SuiteTest,
    TrialRecord, TrialSummary,
};
use crate::run_directory::{
    CASE_RECORD, CASES, CHOSEN, CaseDirectoryName, RUN_RECORD, SUITE_RECORD, SUITES, TRIAL_RECORD, TRIAL_STARTED,
    read_run_record,
};
use crate::untrusted::UntrustedDirectory;

/// The suites of a run that have records, by name. Unreadable files are problems of their suite; if the path of the
/// suites is not a directory, this is a problem of the run.
///
/// # Errors
///
/// If the directory of the suites cannot be read.
pub fn suites_of(run: &Path, depth: ReadDepth) -> io::Result<(Vec<SuiteData>, Option<Problem>)> {
    let names = match UntrustedDirectory::new(run).join(SUITES).subdirectories() {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Ok((Vec::new(), Some(Problem::new(run, Path::new(SUITES), error.to_string()))));
        }
        names => names?,
    };
    let paths = names.into_iter().map(|name| Path::new(SUITES).join(name));
    let mut suites: Vec<SuiteData> = paths.flat_map(|path| read_suite(run, &path, depth)).collect();
    add_packages(run, &mut suites);
    // Whoever reads the run names the problem.
    let chosen: Option<ChosenTests> = read_run_record(run, Path::new(CHOSEN)).unwrap_or_default();
    suites.iter_mut().for_each(|suite| suite.chosen = chosen.as_ref().map(|chosen| chosen.of(&suite.id)));
    let labels = SuiteId::labels(&suites.iter().map(|suite| suite.id.clone()).collect::<Vec<_>>());
    for (suite, label) in suites.iter_mut().zip(labels) {
        suite.rename(&label);
    }
    suites.sort_by(|left, right| left.name.cmp(&right.name));
    Ok((suites, None))
}

/// The suites with tests that were chosen for the run and of which it has no record, because no test program with them got as far as their first
/// test. They have the names of their modules, and their tests those of Rust.
pub(crate) fn suites_without_records(run: &Path, suites: &[SuiteData]) -> Vec<SuiteData> {
    // Whoever reads the run names the problem.
    let chosen: Option<ChosenTests> = read_run_record(run, Path::new(CHOSEN)).unwrap_or_default();
    let chosen = chosen.into_iter().flat_map(|chosen| chosen.tests);
    // Without the record of a suite, its package may be unknown, but the records of its cases name their tests.
    let of_unknown = suites.iter().filter(|suite| suite.id.package.is_empty());
    let started: BTreeSet<[&str; 2]> = of_unknown
        .flat_map(|suite| {
            let ended = suite.cases.iter().map(|case| [&case.record.module, &case.record.test_name]);
            ended.chain(suite.running.iter().map(|started| [&started.module, &started.test_name]))
        })
        .map(|names| names.map(String::as_str))
        .collect();
    let suite = |(package, (module, mut tests)): (String, (String, BTreeSet<String>))| {
        let is_known = suites.iter().any(|suite| suite.id.package == package && suite.id.module == module);
        tests.retain(|test| !started.contains(&[&*module, test]));
        let mut record = SuiteRecord::new();
        record.tests = tests.iter().map(|test| SuiteTest::new("", test, test)).collect();
        let mut id = SuiteId::new(format!("{package} ({module})"));
        (id.package, id.module) = (package, module);
        let has_tests = !tests.is_empty();
        let suite =
            SuiteData { name: id.name.clone(), id, record: Some(record), chosen: Some(tests), ..SuiteData::default() };
        (has_tests && !is_known).then_some(suite)
    };
    let modules =
        chosen.flat_map(|(package, modules)| modules.into_iter().map(move |of_module| (package.clone(), of_module)));
    modules.filter_map(suite).collect()
}

/// Adds the packages of suites whose records do not say it: those of older versions have it in `run.json` only.
fn add_packages(run: &Path, suites: &mut [SuiteData]) {
    let mut unknown = suites.iter_mut().map(|suite| &mut suite.id).filter(|id| id.package.is_empty()).peekable();
    if unknown.peek().is_none() {
        return;
    }
    // Whoever reads the run names the problem.
    let record: Option<RunRecord> = read_run_record(run, Path::new(RUN_RECORD)).unwrap_or_default();
    for id in unknown {
        let recorded = record.iter().flat_map(|record| &record.suites).find(|suite| suite.name == id.name);
        id.package = recorded.map(|suite| suite.package.clone()).unwrap_or_default();
    }
}

/// The suite as each module includes it; nothing for one without any record. `path` is relative to the run.
fn read_suite(run: &Path, path: &Path, depth: ReadDepth) -> Vec<SuiteData> {
    let mut problems = Vec::new();
    let record: Option<SuiteRecord> = read_record(run, &path.join(SUITE_RECORD), &mut problems);
    let tests = record.as_ref().map_or(&[][..], |record| &record.tests);
    let cases = path.join(CASES);
    let names = UntrustedDirectory::new(run).join(&cases).subdirectories();
    let names = Problem::add_of(names, run, &cases, &mut problems);
    let mut attempts: BTreeMap<String, Vec<CaseData>> = BTreeMap::new();
    let mut reader = CaseReader { run, depth, suite: record.as_ref(), problems: &mut problems, running: Vec::new() };
    for case in names.into_iter().filter_map(|name| reader.read(&cases.join(name))) {
        let first = CaseDirectoryName { attempt: 1, ..case.name.clone() }.to_string();
        attempts.entry(first).or_default().push(case);
    }
    let running = reader.running;
    let mut cases = one_per_test(attempts.into_values().filter_map(last_attempt));
    // Of an attempt that died before another one counted, nothing is missing.
    let is_counted = |problem: &Problem| cases.iter().any(|case| Path::new(&problem.file).starts_with(&case.directory));
    problems.retain(|problem| !matches!(problem.about, Affected::Died(..)) || is_counted(problem));
    // A test name that occurs twice has its first place.
    let order: BTreeMap<&str, usize> =
        tests.iter().enumerate().rev().map(|(index, test)| (test.test_name.as_str(), index)).collect();
    let place = |case: &CaseRecord| order.get(case.test_name.as_str()).copied().unwrap_or(usize::MAX);
    cases.sort_by_key(|case| place(&case.record));
    let of_record = record.as_ref().map(|record| record.name.clone());
    let of_case = cases.first().map(|case| case.record.suite.clone());
    let of_running = running.first().map(|started| started.suite.clone());
    let is_empty = cases.is_empty() && running.is_empty() && problems.is_empty();
    let of_directory = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let known = [of_record, of_case, of_running].into_iter().flatten().find(|name| !name.is_empty());
    let Some(name) = known.or_else(|| (!is_empty).then(of_directory)) else { return Vec::new() };
    let (id, directory) = (SuiteId::new(&name), run.join(path));
    by_module(SuiteData { name, id, directory, record, cases, running, problems, ..SuiteData::default() })
}

/// The suite as each module includes it.
fn by_module(suite: SuiteData) -> Vec<SuiteData> {
    let SuiteData { name, directory, record, cases, running, problems, .. } = suite;
    let tests = record.iter().flat_map(|record| &record.tests).map(|test| test.module.as_str());
    let mut modules: Vec<String> = tests.map(str::to_owned).collect();
    modules.extend(cases.iter().map(|case| case.record.module.clone()));
    modules.extend(running.iter().map(|started| started.module.clone()));
    // A suite without tests.
    let first = modules.first().cloned().unwrap_or_default();
    modules.push(first.clone());
    let part = |module: String| {
        let mut record = record.clone();
        record.iter_mut().for_each(|record| record.tests.retain(|test| test.module == module));
        let of_cases = || SuiteId { module: module.clone(), ..SuiteId::default() };
        let mut id = record.as_ref().map_or_else(of_cases, |record| record.id(module.as_str()));
        id.name.clone_from(&name);
        let (name, directory) = (name.clone(), directory.clone());
        (module, SuiteData { name, id, directory, record, ..SuiteData::default() })
    };
    modules.sort_unstable();
    modules.dedup();
    let mut parts: BTreeMap<String, SuiteData> = modules.into_iter().map(part).collect();
    let of_case: BTreeMap<&Path, &String> =
        cases.iter().map(|case| (case.directory.as_path(), &case.record.module)).collect();
    for problem in problems {
        let module =
            Path::new(&problem.file).ancestors().find_map(|path| of_case.get(path).copied()).unwrap_or(&first).clone();
        parts.entry(module).and_modify(|part| part.problems.push(problem));
    }
    for started in running {
        parts.entry(started.module.clone()).and_modify(|part| part.running.push(started));
    }
    for case in cases {
        parts.entry(case.record.module.clone()).and_modify(|part| part.cases.push(case));
    }
    parts.into_values().collect()
}

/// The case of the last runner attempt, with the earlier ones.
fn last_attempt(mut attempts: Vec<CaseData>) -> Option<CaseData> {
    attempts.sort_by_key(|attempt| attempt.name.attempt);
    let last = attempts.pop()?;
    Some(last.with_other_attempts(attempts))
}

/// The case of each test, of several the one of the last runner attempt. A test has one directory per stress run, but a copy of a
/// directory may lie next to it.
fn one_per_test(cases: impl Iterator<Item = CaseData>) -> Vec<CaseData> {
    let mut tests: BTreeMap<_, CaseData> = BTreeMap::new();
    for case in cases {
        let record = &case.record;
        let names = [&record.program, &record.test_name, &record.case_id, &record.target].map(String::clone);
        let test = (names, case.name.stress.clone());
        if tests.get(&test).is_none_or(|counted| counted.name.attempt < case.name.attempt) {
            tests.insert(test, case);
        }
    }
    tests.into_values().collect()
}

/// Reads a record of a run. `None` if it does not exist, or if it is not such a record: then the problem is added.
pub fn read_record<T: FromJson>(run: &Path, file: &Path, problems: &mut Vec<Problem>) -> Option<T> {
    Problem::add_of(read_run_record(run, file), run, file, problems)
}

/// Reads the cases of a suite of a run.
struct CaseReader<'a> {
    run: &'a Path,
    depth: ReadDepth,
    suite: Option<&'a SuiteRecord>,
    problems: &'a mut Vec<Problem>,
    /// The cases whose tests are running.
    running: Vec<Started>,
}

impl CaseReader<'_> {
    /// Reads the directory of a case, which is relative to the run. `None` if its test is running, or no trial has started.
    fn read(&mut self, directory: &Path) -> Option<CaseData> {
        let name = CaseDirectoryName::parse(&directory.file_name().unwrap_or_default().to_string_lossy());
        let known = self.problems.len();
        let Some(record) = self.record::<CaseRecord>(&directory.join(CASE_RECORD)) else {
            let is_unreadable = self.problems.len() > known;
            return self.without_record(directory, name, is_unreadable);
        };
        let read = if self.depth == ReadDepth::Trials { &record.trials[..] } else { &[] };
        let trials = read.iter().map(|trial| self.trial(directory, &record, trial)).collect();
        let directory = directory.to_owned();
        Some(CaseData { name, directory, record, trials, other_attempts: Vec::new(), of_runs: Vec::new() })
    }

    fn record<T: FromJson>(&mut self, file: &Path) -> Option<T> {
        read_record(self.run, file, self.problems)
    }

    fn trial(&mut self, case: &Path, record: &CaseRecord, summary: &TrialSummary) -> TrialData {
        let file = case.join(&summary.path);
        let known = self.problems.len();
        let directory = file.parent().unwrap_or(case).to_owned();
        if let Some(record) = self.record(&file) {
            return TrialData { directory, record };
        }
        if self.problems.len() == known {
            self.problems.push(Problem::new(self.run, &file, "is missing"));
        }
        TrialData { directory, record: trial_without_record(record, summary) }
    }

    /// A case whose process died or is still running, or whose record cannot be read: what its trials tell of it.
    fn without_record(&mut self, case: &Path, name: CaseDirectoryName, is_unreadable: bool) -> Option<CaseData> {
        let names = UntrustedDirectory::new(self.run).join(case).subdirectories();
        let names = Problem::add_of(names, self.run, case, self.problems);
        let mut started: Option<Started> = None;
        let mut trials: Vec<LostTrial> = Vec::new();
        for directory in names.into_iter().map(|name| case.join(name)) {
            let own: Option<Started> = self.record(&directory.join(TRIAL_STARTED));
            let record: Option<TrialRecord> = self.record(&directory.join(TRIAL_RECORD));
            started = own.clone().or(started);
            if record.is_some() || own.is_some() {
                trials.push(LostTrial { directory, record, started: own });
            }
        }
        if trials.is_empty() && !is_unreadable {
            return None;
        }
        let file = case.join(CASE_RECORD);
        if let Some(started) = started.as_ref().filter(|started| is_running(self.run, started)) {
            let about = Affected::Running(started.case_id.clone(), started.target.clone());
            let message = format!("is still running in process {}", started.pid);
            self.problems.push(Problem { about, ..Problem::new(self.run, &file, message) });
            self.running.push(started.clone());
            return None;
        }
        // Of several attempts at a trial, the last one counts; directories are sorted by trial and attempt.
        trials.reverse();
        trials.dedup_by_key(|trial| trial.index());
        trials.reverse();
        let case = lost_case(name, case.to_owned(), is_unreadable, started.as_ref(), trials, self.suite);
        if !is_unreadable {
            let about = Affected::Died(case.record.case_id.clone(), case.record.target.clone());
            let message = case.record.reason.as_ref().map(|reason| reason.message.clone()).unwrap_or_default();
            self.problems.push(Problem { about, ..Problem::new(self.run, &file, message) });
        }
        Some(case)
    }
}

/// Whether the case's lock is held. Process ids are reused, and mean nothing on another machine.
fn is_running(run: &Path, started: &Started) -> bool {
    !started.lock.is_empty() && FileLock::is_held(run, Path::new(&started.lock)).unwrap_or(false)
}

/// A trial of a case without a record: it has a record of its own, or has at least started.
struct LostTrial {
    directory: PathBuf,
    record: Option<TrialRecord>,
    started: Option<Started>,
}

impl LostTrial {
    /// Index of the trial.
    fn index(&self) -> Option<u32> {
        let of_record = self.record.as_ref().map(|record| record.trial);
        of_record.or(self.started.as_ref().map(|started| started.trial))
    }
}

/// The record of a trial whose own is missing or torn, from the record of its case.
fn trial_without_record(case: &CaseRecord, summary: &TrialSummary) -> TrialRecord {
    let mut record = TrialRecord::of_case(case);
    record.trial = summary.index;
    record.outcome = summary.outcome;
    record.score = summary.score;
    record.duration_ms = summary.duration_ms;
    (record.usage, record.cost_usd) = (summary.usage, summary.cost_usd);
    (record.judge_usage, record.judge_cost_usd) = (summary.judge_usage, summary.judge_cost_usd);
    (record.user_usage, record.user_cost_usd) = (summary.user_usage, summary.user_cost_usd);
    record.reason = Some(died(format!("the record of trial {} is missing or torn", summary.index)));
    record
}

/// A case without a record, or with one that cannot be read: it is an error, and so are its trials that did not end.
fn lost_case(
    name: CaseDirectoryName,
    directory: PathBuf,
    is_unreadable: bool,
    started: Option<&Started>,
    trials: Vec<LostTrial>,
    suite: Option<&SuiteRecord>,
) -> CaseData {
    let ended = trials.iter().rev().find_map(|trial| trial.record.as_ref());
    let mut record = ended.map_or_else(CaseRecord::new, CaseRecord::of_trial);
    if let Some(started) = started {
        record.run_id.clone_from(&started.run_id);
        record.suite.clone_from(&started.suite);
        record.case_id.clone_from(&started.case_id);
        record.target.clone_from(&started.target);
        // Records of earlier versions say neither.
        if !started.test_name.is_empty() {
            record.test_name.clone_from(&started.test_name);
        }
        record.program.clone_from(&started.program);
        record.module.clone_from(&started.module);
        if !started.input_digest.is_empty() {
            record.case_digest.clone_from(&started.case_digest);
            record.input_digest.clone_from(&started.input_digest);
            record.grader_digest.clone_from(&started.grader_digest);
            record.location = started.location.clone();
        }
    }
    record.case_key.clone_from(&name.case_key);
    record.runner_attempt = name.attempt;
    if let Some(suite) = suite {
        add_test(&mut record, suite);
    }
    if record.case_id.is_empty() {
        record.case_id = record.case_key.clone();
    }
    let open = trials.iter().filter(|trial| trial.record.is_none()).find_map(|trial| trial.started.as_ref());
    let after = |started: &Started| format!("process {} died after trial {}", started.pid, started.trial);
    let message = open.map(died_in).or_else(|| started.filter(|_| !is_unreadable).map(after));
    record.outcome = Status::Error;
    record.reason = Some(died(message.unwrap_or_else(|| "the case has no record that can be read".to_owned())));
    let trials: Vec<TrialData> = trials.into_iter().map(|trial| stored_trial(trial, &record)).collect();
    for trial in &trials {
        // Its path is relative to the case, the directory to the run.
        let directory = trial.directory.file_name().unwrap_or_default().to_string_lossy();
        record.trials.push(TrialSummary::new(&trial.record, format!("{directory}/{TRIAL_RECORD}")));
        record.completed += u32::from(matches!(trial.record.outcome, Status::Passed | Status::Failed));
        record.passed += u32::from(trial.record.outcome == Status::Passed);
        record.errors += u32::from(trial.record.outcome == Status::Error);
    }
    record.planned = record.planned.max(record.completed + record.errors);
    CaseData { name, directory, record, trials, other_attempts: Vec::new(), of_runs: Vec::new() }
}

fn stored_trial(trial: LostTrial, case: &CaseRecord) -> TrialData {
    let LostTrial { directory, record, started } = trial;
    let record = record.unwrap_or_else(|| {
        let mut record = TrialRecord::of_case(case);
        record.outcome = Status::Error;
        if let Some(started) = started {
            record.trial = started.trial;
            record.reason = Some(died(died_in(&started)));
            record.started_at = started.started_at;
        }
        record
    });
    TrialData { directory, record }
}

fn died_in(started: &Started) -> String {
    format!("process {} died in trial {}", started.pid, started.trial)
}

/// Adds what the suite says about the case. Records of earlier versions say less of what started.
fn add_test(record: &mut CaseRecord, suite: &SuiteRecord) {
    if record.suite.is_empty() {
        record.suite.clone_from(&suite.name);
    }
    (record.kind, record.layout) = (suite.kind, suite.layout);
    record.suite_digest.clone_from(&suite.digest);
    let target = |test: &SuiteTest| test.target.clone().unwrap_or_else(|| "default".to_owned());
    let is_meant = |test: &&SuiteTest| match record.case_id.as_str() {
        // The name of its directory has a digest of what it is.
        "" => case_key(&record.suite, &target(test), &test.case_id) == record.case_key,
        id => test.case_id == id && test.target.as_ref().is_none_or(|target| *target == record.target),
    };
    let is_known = !record.test_name.is_empty();
    if let Some(test) = suite.tests.iter().filter(|_| !is_known).find(is_meant) {
        record.test_name.clone_from(&test.test_name);
        record.module.clone_from(&test.module);
        if record.case_id.is_empty() {
            (record.case_id, record.target) = (test.case_id.clone(), target(test));
        }
    }
}

fn died(message: String) -> Reason {
    Reason::new(Stage::Agent, ReasonCode::ProcessDied, message)
}
