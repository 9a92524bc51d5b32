//! Commands that run cases, or grade what ran before.

#[cfg(feature = "judge")]
pub(crate) mod calibrate;
pub(crate) mod probe;
pub(crate) mod regrade;
pub(crate) mod run;
#[cfg(feature = "watch")]
pub(crate) mod watch;
