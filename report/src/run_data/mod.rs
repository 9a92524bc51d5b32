//! A run as reports see it, with the files of its trials.

mod answer;
mod case_lookup;

use evalsuite_records::record::{OutcomeCounts, Status};
pub use evalsuite_records::run_data::{CaseData, Problem, RunData, SuiteData, TrialData};
pub(crate) use evalsuite_records::run_data::{SuiteNames, TrialFiles, read_record};

pub(crate) use self::answer::answer_of;
pub(crate) use self::case_lookup::{CaseLookup, identity};

/// Numbers of cases or trials by outcome.
pub(crate) fn count_outcomes(outcomes: impl Iterator<Item = Status>) -> OutcomeCounts {
    let mut counts = OutcomeCounts::default();
    outcomes.for_each(|outcome| counts.add(outcome));
    counts
}
