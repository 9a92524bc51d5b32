//! What graders made of the trials of the last runs.

use crate::run::probe::probed_graders::verdicts;
use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::path::Path;

use evalsuite_records::record::{Status, TrialRecord};

use crate::platform::files::read_json;
use crate::record::run_directory::layout::{CASES, SUITES, TRIAL_RECORD};
use crate::record::run_directory::{OutputDirectory, StoredRun};
use crate::run::plan::regrade::newest_of_case;

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
pub(super) type RecordedVerdicts = BTreeMap<String, VerdictCounts>;

/// The last runs of an output directory; none if it cannot be read, which its own commands report.
pub(super) fn last_runs(output: &Path) -> Vec<StoredRun> {
    let mut runs = OutputDirectory::new(output).runs_newest_first().unwrap_or_default();
    runs.truncate(LAST_RUNS);
    runs
}

/// The verdicts on trials of a case in these runs. A damaged record says nothing about a grader.
pub(super) fn recorded_verdicts(runs: &[StoredRun], suite_key: &str, case_key: &str, test: &str) -> RecordedVerdicts {
    let mut found = RecordedVerdicts::new();
    let cases = runs
        .iter()
        .filter_map(|run| newest_of_case(&run.path().join(SUITES).join(suite_key).join(CASES), case_key, test));
    for trial in cases.flat_map(|case| case.last_attempts.into_values()) {
        let Ok(Some(record)) = read_json::<TrialRecord>(&trial.join(TRIAL_RECORD)) else { continue };
        for verdict in verdicts(&record.graders, record.turns.as_deref()) {
            let passes = verdict.passes;
            *found.entry(verdict.path).or_default() += VerdictCounts {
                passed: u32::from(passes),
                failed: u32::from(!passes),
                in_failed_trials: u32::from(passes && record.outcome == Status::Failed),
            };
        }
    }
    found
}
