//! A run as reports see it, with the files of its trials.

mod answer;
mod case_lookup;

pub use evalsuite_records::run_data::{CaseData, Problem, RunData, SuiteData, TrialData};
pub(crate) use evalsuite_records::run_data::{SuiteNames, TrialFiles, read_record};

pub(crate) use self::answer::answer_of;
pub(crate) use self::case_lookup::CaseLookup;
