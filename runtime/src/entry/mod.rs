//! Entry points of generated tests, programs and the command line.

pub(crate) mod answer_pairs;
pub(crate) mod calibrate;
pub(crate) mod evals_run;
pub(crate) mod failure_text;
pub(crate) mod finish_run;
pub(crate) mod grader_examples;
pub(crate) mod long_cases;
mod missing_features;
pub(crate) mod new_cases;
#[cfg(feature = "probe")]
pub(crate) mod probe;
#[cfg(feature = "probe")]
pub(crate) mod probe_loaded;
pub(crate) mod probe_of_check;
pub(crate) mod rated_samples;
pub(crate) mod reload;
pub(crate) mod replay_notice;
pub(crate) mod report;
pub(crate) mod run_error;
pub(crate) mod run_options;
pub(crate) mod skip_notice;
pub(crate) mod suite_check;
pub(crate) mod suite_description;
pub(crate) mod test_entry;
