//! Reads a run directory and the runs before it. Suites get names in view of suites that have names already, such as those of a later run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{io, iter};

use super::{CaseData, Problem, ReadDepth, SuiteData, read_record, suites_of, suites_without_records};
use crate::record::{ChosenTests, DecisionRecord, ProbeRates, ProbeRecord, RunRecord, Status, SuiteId};
use crate::run_directory::{CHOSEN, DECISION, OutputDirectory, RUN_RECORD, SUITE_RECORD, SUITES, StoredRun};

/// Name of the file with the result of a calibration.
const CALIBRATION: &str = "calibration.json";

/// The records of a run. A merged run is read like any other.
///
/// Records that are missing or torn do not stop the reading: they are listed in [`problems`](Self::problems).
#[derive(Debug, Clone, Default)]
pub struct RunData {
    /// Id of the run.
    pub run_id: String,
    /// The run directory.
    pub directory: PathBuf,
    /// `run.json`; `None` if it is missing or torn.
    pub record: Option<RunRecord>,
    /// `decision.json`; `None` unless the run ends as soon as its comparison is decided.
    pub decision: Option<DecisionRecord>,
    /// Whether a test of the run is still running.
    pub in_use: bool,
    /// Its suites, by name.
    pub suites: Vec<SuiteData>,
    /// Suites whose tests were chosen, and of which the run has no record: no test of them has started.
    pub without_records: Vec<SuiteData>,
    /// What could not be read, in the order in which it was found.
    pub problems: Vec<Problem>,
    /// Ids of the runs that are counted together, this one last; empty if it is one run.
    pub counted_runs: Vec<String>,
    /// Of runs that are counted together, the last one by itself, without the records of its trials, if it compared itself with a base until
    /// that was decided.
    pub alone: Option<Box<RunData>>,
}

impl RunData {
    /// Whether a text that a person wrote names a suite of the run: the one with exactly this name, else each that may be meant, see
    /// [`is_called`](crate::record::SuiteId::is_called).
    pub fn is_called(&self, suite: &SuiteData, text: &str) -> bool {
        if self.suites.iter().any(|suite| suite.name == text) { suite.name == text } else { suite.id.is_called(text) }
    }

    /// Reads a run with all its trials.
    ///
    /// # Errors
    ///
    /// If the directory is not a run directory, or cannot be listed.
    pub fn read(directory: impl Into<PathBuf>) -> io::Result<Self> {
        read_run(directory.into(), ReadDepth::Trials)
    }

    /// Reads a run without the records of its trials: its [trials](super::CaseData::trials) are empty.
    ///
    /// # Errors
    ///
    /// If the directory is not a run directory, or cannot be listed.
    pub fn read_cases(directory: impl Into<PathBuf>) -> io::Result<Self> {
        read_run(directory.into(), ReadDepth::Cases)
    }
}

fn read_run(directory: PathBuf, depth: ReadDepth) -> io::Result<RunData> {
    let Some(stored) = StoredRun::open(&directory) else {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is not a run directory", directory.display())));
    };
    let mut run = RunData { run_id: stored.id(), in_use: stored.is_in_use()?, directory, ..RunData::default() };
    let file = run.directory.join(RUN_RECORD);
    run.record = read_record(&run.directory, &file, &mut run.problems);
    if run.record.is_none() && run.problems.is_empty() {
        run.problems.push(Problem::new(&run.directory, &file, "is missing"));
    }
    let _: Option<ChosenTests> = read_record(&run.directory, Path::new(CHOSEN), &mut run.problems);
    run.decision = read_record(&run.directory, &run.directory.join(DECISION), &mut run.problems);
    let (suites, problem) = suites_of(&run.directory, depth)?;
    run.problems.extend(problem);
    for mut suite in suites {
        suite.calibration = read_record(&run.directory, &suite.directory.join(CALIBRATION), &mut run.problems);
        run.problems.extend(suite.problems.iter().cloned());
        if depth == ReadDepth::Cases {
            // Of a case without a record, its trials are read anyway.
            let attempts = suite.cases.iter_mut().flat_map(|case| {
                let CaseData { trials, other_attempts, .. } = case;
                iter::once(trials).chain(other_attempts.iter_mut().map(|attempt| &mut attempt.trials))
            });
            attempts.for_each(Vec::clear);
        }
        run.suites.push(suite);
    }
    // `suite.json` was written before `run.json` named the suite. Records of older versions do not say where it is.
    let named = run.record.iter().flat_map(|record| &record.suites).map(|suite| suite.directory.as_str());
    let lost = named.filter(|directory| !directory.is_empty()).map(|directory| Path::new(SUITES).join(directory));
    let lost = lost.filter(|path| run.suites.iter().all(|suite| suite.directory != run.directory.join(path)));
    let lost: Vec<Problem> =
        lost.map(|path| Problem::new(&run.directory, &path.join(SUITE_RECORD), "is missing")).collect();
    run.problems.extend(lost);
    run.without_records = suites_without_records(&run.directory, &run.suites);
    Ok(run)
}

/// Other names for the suites of a run: those that the same suites have elsewhere, and names that no other suite has for the rest.
#[derive(Debug, Clone, Default)]
pub struct SuiteNames<'a>(BTreeMap<&'a str, String>);

impl RunData {
    /// Whether this run and another one are known to be [of one agent](RunRecord::is_of_same_agent).
    pub fn is_of_same_agent(&self, other: &Self) -> bool {
        self.record.as_ref().zip(other.record.as_ref()).is_some_and(|(one, other)| one.is_of_same_agent(other))
    }

    /// Whether a later run [may be compared](RunRecord::is_base_of) with this one, as far as is known.
    pub fn is_base_of(&self, run: &Self) -> bool {
        self.record.as_ref().zip(run.record.as_ref()).is_none_or(|(base, run)| base.is_base_of(run))
    }

    /// What is known of tests that have no record.
    pub fn not_started_text(&self) -> &'static str {
        let is_known = self.suites.iter().all(|suite| suite.chosen.is_some());
        if is_known { "not started" } else { "not chosen or not started" }
    }

    /// Its suites, also those without records.
    pub fn all_suites(&self) -> impl Iterator<Item = &SuiteData> {
        self.suites.iter().chain(&self.without_records)
    }

    /// Its suites, with their names.
    pub fn suite_names(&self) -> Vec<(SuiteId, String)> {
        self.suites.iter().map(|suite| (suite.id.clone(), suite.name.clone())).collect()
    }

    /// The run with its suites called as the same suites are elsewhere, such as in [`suite_names`](Self::suite_names) of another run.
    #[must_use]
    pub fn with_suite_names(mut self, known: &[(SuiteId, String)]) -> Self {
        let names = SuiteNames::new(&self, known);
        let names: Vec<String> = self.suites.iter().map(|suite| names.of(&suite.name).to_owned()).collect();
        for (suite, name) in self.suites.iter_mut().zip(names).filter(|(suite, name)| suite.name != *name) {
            suite.rename(&name);
        }
        self
    }

    /// The run with the rates of probes that were made after it. Each probe names its suite as the run does.
    #[must_use]
    pub fn with_probes(mut self, probes: &[ProbeRecord]) -> Self {
        for suite in &mut self.suites {
            let Some(record) = suite.record.as_mut().filter(|record| record.probe.is_none()) else { continue };
            record.probe = probes.iter().find(|probe| probe.suite.name == suite.name).and_then(ProbeRates::of);
        }
        self
    }
}

impl<'a> SuiteNames<'a> {
    /// The names of the suites of a run in view of suites that have names.
    pub fn new(run: &'a RunData, known: &[(SuiteId, String)]) -> Self {
        let ids: Vec<SuiteId> = run.suites.iter().map(|suite| suite.id.clone()).collect();
        let known_ids: Vec<SuiteId> = known.iter().map(|(id, _)| id.clone()).collect();
        let mut taken: BTreeSet<String> = known.iter().map(|(_, name)| name.clone()).collect();
        let mut names = BTreeMap::new();
        for (suite, counterpart) in run.suites.iter().zip(SuiteId::counterparts(&ids, &known_ids)) {
            let name = match counterpart {
                // A baseline is called as the suite that it was read for.
                _ if suite.id.package.is_empty() && taken.contains(&suite.name) => suite.name.clone(),
                Some(index) => known[index].1.clone(),
                None => own_name(suite, &taken),
            };
            taken.insert(name.clone());
            names.insert(suite.name.as_str(), name);
        }
        Self(names)
    }

    /// The name of a suite of the run.
    pub fn of<'s>(&'s self, suite: &'s str) -> &'s str {
        self.0.get(suite).map_or(suite, String::as_str)
    }
}

/// The shortest name of a suite that no other one has.
fn own_name(suite: &SuiteData, taken: &BTreeSet<String>) -> String {
    let SuiteId { name, package, path, module, .. } = &suite.id;
    let names = [suite.name.clone(), format!("{package}/{name}"), format!("{package}/{path}")];
    let longest = format!("{package}/{path} ({module})");
    names.into_iter().find(|name| !taken.contains(name)).unwrap_or(longest)
}

/// The last `count` runs beside this one that began before it and share a suite with it, the oldest first, without trials.
///
/// # Errors
///
/// If the directory of runs, or one of these runs, cannot be read.
pub fn earlier_runs(run: &RunData, count: usize) -> io::Result<Vec<RunData>> {
    let suites = |run: &RunData| run.suites.iter().map(|suite| suite.name.clone()).collect::<BTreeSet<_>>();
    let ours = suites(run);
    let mut found = Vec::new();
    for earlier in before(run)? {
        if found.len() == count {
            break;
        }
        let earlier = RunData::read_cases(earlier.path())?.with_suite_names(&run.suite_names());
        if !suites(&earlier).is_disjoint(&ours) {
            found.push(earlier);
        }
    }
    found.reverse();
    Ok(found)
}

/// The newest run that began before this one, [may be compared](RunRecord::is_base_of) with it, and has a result of a case in common with it.
///
/// # Errors
///
/// If the directory of runs, or one of them, cannot be read.
pub fn earlier_comparable(run: &RunData) -> io::Result<Option<StoredRun>> {
    let is_base = |other: &StoredRun| match (&run.record, run_record(other)) {
        (Some(ours), Some(theirs)) => theirs.is_base_of(ours),
        _ => true,
    };
    first_comparable(run, before(run)?.into_iter().filter(is_base))
}

/// The other runs beside a run that are of the [same agent](RunRecord::is_of_same_agent), the oldest first: runs in which it was called,
/// and whose tests have ended.
///
/// # Errors
///
/// If the directory of runs cannot be read.
pub fn runs_of_same_agent(run: &RunData) -> io::Result<Vec<StoredRun>> {
    let Some(ours) = run.record.as_ref().filter(|record| record.has_called_agent()) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for other in beside(run)?.into_iter().rev().filter(|other| other.path() != run.directory) {
        if run_record(&other).is_some_and(|record| record.counts_with(ours)) && !other.is_in_use()? {
            found.push(other);
        }
    }
    Ok(found)
}

/// The newest other run beside this one that is of the [same agent](RunRecord::is_of_same_agent), and has a result of a case in common
/// with it.
///
/// # Errors
///
/// If the directory of runs, or one of these runs, cannot be read.
pub fn comparable_of_same_agent(run: &RunData) -> io::Result<Option<StoredRun>> {
    first_comparable(run, runs_of_same_agent(run)?.into_iter().rev())
}

fn run_record(run: &StoredRun) -> Option<RunRecord> {
    read_record(run.path(), &run.path().join(RUN_RECORD), &mut Vec::new())
}

/// The newest other run beside this one that is of a commit, without changed files, [may be compared](RunRecord::is_base_of) with it, and has a
/// result of a case in common with it.
///
/// # Errors
///
/// If the directory of runs, or one of them, cannot be read.
pub fn comparable_of_commit(run: &RunData, commit: &str) -> io::Result<Option<StoredRun>> {
    let others = beside(run)?.into_iter().filter(|other| other.path() != run.directory);
    // Its cases are read only if it is of the commit: most runs are not.
    let is_of_commit = |record: &RunRecord| record.git.as_ref().is_some_and(|git| git.commit == commit && !git.dirty);
    let is_base = |record: &RunRecord| run.record.as_ref().is_none_or(|ours| record.is_base_of(ours));
    let is_meant =
        |other: &StoredRun| run_record(other).is_some_and(|record| is_of_commit(&record) && is_base(&record));
    first_comparable(run, others.filter(is_meant))
}

/// The outcomes of tests, given by name of the suite and path, in the newest run of an output directory that has one that is not
/// *skipped*. Tests without any are left out. `suites` says what each suite is called.
///
/// # Errors
///
/// If a run cannot be read.
pub fn newest_outcomes(
    output: &Path,
    suites: &[(SuiteId, String)],
    tests: &BTreeSet<(String, String)>,
) -> io::Result<BTreeMap<(String, String), Status>> {
    let mut found = BTreeMap::new();
    for run in OutputDirectory::new(output).runs_newest_first()? {
        if found.len() == tests.len() {
            break;
        }
        let run = RunData::read_cases(run.path())?.with_suite_names(suites);
        for record in run.suites.into_iter().flat_map(|suite| suite.cases).map(|it| it.record) {
            let test = (record.identity.suite, record.identity.test_name);
            if record.outcome != Status::Skipped && tests.contains(&test) {
                found.entry(test).or_insert(record.outcome);
            }
        }
    }
    Ok(found)
}

/// The runs beside a run that began before it, the newest first.
fn before(run: &RunData) -> io::Result<Vec<StoredRun>> {
    let mut runs = beside(run)?;
    match runs.iter().position(|other| other.path() == run.directory) {
        Some(position) => Ok(runs.split_off(position + 1)),
        None => Ok(Vec::new()),
    }
}

/// The runs in the directory of a run, the newest first.
fn beside(run: &RunData) -> io::Result<Vec<StoredRun>> {
    match run.directory.parent().and_then(Path::parent) {
        Some(output) => OutputDirectory::new(output).runs_newest_first(),
        None => Ok(Vec::new()),
    }
}

/// The first run that has a result of a case of which this one has a result.
fn first_comparable(run: &RunData, others: impl IntoIterator<Item = StoredRun>) -> io::Result<Option<StoredRun>> {
    let ours = completed_cases(run);
    for other in others {
        let theirs = RunData::read_cases(other.path())?.with_suite_names(&run.suite_names());
        if !completed_cases(&theirs).is_disjoint(&ours) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// The cases of a run that have a result.
fn completed_cases(run: &RunData) -> BTreeSet<[String; 3]> {
    let cases = run.suites.iter().flat_map(|suite| &suite.cases);
    let attempts = cases.flat_map(|case| iter::once(case).chain(&case.other_attempts));
    let completed = attempts.map(|case| &case.record).filter(|record| record.completed > 0);
    completed.map(|record| [record.suite.clone(), record.case_id.clone(), record.target.clone()]).collect()
}
