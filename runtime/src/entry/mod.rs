//! What generated tests, programs and the command line call.

pub(crate) mod calibrate;
pub(crate) mod description;
pub(crate) mod evals_run;
pub(crate) mod failure;
pub(crate) mod finish;
pub(crate) mod report;
pub(crate) mod run_options;
pub(crate) mod samples;
pub(crate) mod suite_check;
pub(crate) mod test_entry;
