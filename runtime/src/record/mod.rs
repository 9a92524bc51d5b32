//! The records a run writes.

pub(crate) mod cassette;
pub(crate) mod coordination;
pub(crate) mod earlier_trials;
pub(crate) mod embedded_files;
pub(crate) mod grader_files;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod model_calls;
pub(crate) mod run_directory;
pub(crate) mod run_record;
pub(crate) mod trajectory;

pub(crate) use evalsuite_records::{summary, trial_statistics};

pub use evalsuite_records::record::*;
