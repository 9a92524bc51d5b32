//! What graders made of the trials of the last runs.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::path::Path;

use evalsuite_records::record::{Status, TrialRecord};

use crate::platform::files::read_json;
use crate::record::run_directory::layout::{CASES, SUITES, TRIAL_RECORD};
use crate::record::run_directory::{OutputDirectory, StoredRun};
use crate::run::plan::regrade::newest_of_case;
use crate::run::probe::grader_paths::verdicts;

/// How many of the last runs are read.
const LAST_RUNS: usize = 10;

/// Numbers of verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct VerdictCounts {
    pub(super) passed: u32,
    pub(super) failed: u32,
    /// How many of those that passed are of a trial that failed.
    pub(super) in_failed_trials: u32,
}

impl AddAssign for VerdictCounts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.in_failed_trials += other.in_failed_trials;
    }
}

/// The verdicts of recorded trials of a case, by the paths of graders.
#[derive(Debug, Default)]
pub(super) struct RecordedVerdicts(pub(super) BTreeMap<String, VerdictCounts>);

impl RecordedVerdicts {
    pub(super) fn of(&self, path: &str) -> VerdictCounts {
        self.0.get(path).copied().unwrap_or_default()
    }

    fn add(&mut self, record: &TrialRecord) {
        for verdict in verdicts(&record.graders, record.turns.as_deref()) {
            let passes = verdict.passes;
            let counts = VerdictCounts {
                passed: u32::from(passes),
                failed: u32::from(!passes),
                in_failed_trials: u32::from(passes && record.outcome == Status::Failed),
            };
            *self.0.entry(verdict.path).or_default() += counts;
        }
    }
}

/// The last runs of an output directory.
pub(super) struct LastRuns(Vec<StoredRun>);

impl LastRuns {
    /// The last runs; none if the directory cannot be read, which its own commands report.
    pub(super) fn of(output: &Path) -> Self {
        let mut runs = OutputDirectory::new(output).runs_newest_first().unwrap_or_default();
        runs.truncate(LAST_RUNS);
        Self(runs)
    }

    /// The verdicts on trials of a case. A damaged record says nothing about a grader.
    pub(super) fn verdicts(&self, suite_key: &str, case_key: &str, test: &str) -> RecordedVerdicts {
        let mut found = RecordedVerdicts::default();
        for run in &self.0 {
            let cases = run.path().join(SUITES).join(suite_key).join(CASES);
            let Some(case) = newest_of_case(&cases, case_key, test) else { continue };
            for trial in case.trials() {
                if let Ok(Some(record)) = read_json::<TrialRecord>(&trial.join(TRIAL_RECORD)) {
                    found.add(&record);
                }
            }
        }
        found
    }
}
