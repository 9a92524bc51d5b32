//! Entry points of generated tests, programs and the command line.

#[cfg_attr(not(feature = "calibration"), path = "without_calibration.rs")]
pub(crate) mod calibration;
pub(crate) mod evals_run;
pub(crate) mod failure_text;
#[cfg_attr(not(feature = "grader-tests"), path = "without_grader_tests.rs")]
pub(crate) mod grader_tests;
mod missing_features;
#[cfg_attr(not(feature = "probe"), path = "without_probe.rs")]
pub(crate) mod probe;
#[cfg_attr(not(feature = "reload"), path = "without_reload.rs")]
pub(crate) mod reload;
pub(crate) mod run_error;
pub(crate) mod suite_check;
pub(crate) mod suite_description;
pub(crate) mod test_entry;
#[cfg(feature = "tooling")]
pub(crate) mod tooling;
