//! Commands that run cases, or grade what ran before.

pub(crate) mod calibrate;
pub(crate) mod probe;
pub(crate) mod regrade;
pub(crate) mod run;
pub(crate) mod watch;
