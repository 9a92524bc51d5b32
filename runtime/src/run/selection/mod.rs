//! Which cases run, for which target and with which agent, and what a case requires.

pub(crate) mod case_graders;
pub(crate) mod requirements;
pub(crate) mod rerun;
pub(crate) mod targets;
