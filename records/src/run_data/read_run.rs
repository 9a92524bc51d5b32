//! Reads a run directory, and names its suites in view of suites that have names already, such as those of a later run.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use super::{Problem, ReadDepth, SuiteData, read_record, suites_of};
use crate::record::{DecisionRecord, ProbeRates, ProbeRecord, RunRecord, SuiteId};
use crate::run_directory::{DECISION, RUN_RECORD, StoredRun};

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
    /// What could not be read, in the order in which it was found.
    pub problems: Vec<Problem>,
    /// Ids of the runs that are counted together, this one last; empty if it is one run.
    pub counted_runs: Vec<String>,
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
    run.decision = read_record(&run.directory, &run.directory.join(DECISION), &mut run.problems);
    let (suites, problem) = suites_of(&run.directory, depth)?;
    run.problems.extend(problem);
    for mut suite in suites {
        suite.calibration = read_record(&run.directory, &suite.directory.join(CALIBRATION), &mut run.problems);
        run.problems.extend(suite.problems.iter().cloned());
        if depth == ReadDepth::Cases {
            // Of a case without a record, its trials are read anyway.
            suite.cases.iter_mut().for_each(|case| case.trials.clear());
        }
        run.suites.push(suite);
    }
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
