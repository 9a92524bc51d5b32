//! A run: settings, selection, dependencies, hooks, limits, and trials in phases. The order of the modules is in
//! `tests/tests/layers`.

pub(crate) mod baseline_check;
pub(crate) mod budgets;
#[cfg_attr(not(feature = "calibration"), path = "without_calibration.rs")]
pub(crate) mod calibration;
pub(crate) mod case;
pub(crate) mod case_report;
pub(crate) mod case_setup;
pub(crate) mod dependencies;
pub(crate) mod hooks;
#[cfg(feature = "grader-tests")]
pub(crate) mod made_up;
pub(crate) mod plan;
#[cfg(feature = "probe")]
pub(crate) mod probe;
pub(crate) mod replay;
pub(crate) mod selection;
pub(crate) mod session;
pub(crate) mod settings;
mod test_filter;
pub(crate) mod trial;
pub(crate) mod trials;
