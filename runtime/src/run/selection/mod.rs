//! Which cases run, for which target and with which agent, and what a case requires.

pub(crate) mod chosen_agent;
pub(crate) mod grader_configs;
pub(crate) mod requirements;
pub(crate) mod rerun;
pub(crate) mod selected_targets;
pub(crate) mod turn_graders;
