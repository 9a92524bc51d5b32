//! Commands that compare runs, check them against gates, and keep their results as baselines.

pub(crate) mod accept;
pub(crate) mod diff;
pub(crate) mod gate;
