//! The types that users program with: suites, trials, evidence, outcomes and scores, and the traits of agents, graders,
//! judges and simulated users.

pub(crate) mod agent;
pub(crate) mod agent_report;
pub(crate) mod answer_files;
pub(crate) mod callable;
pub(crate) mod cassette;
pub(crate) mod command;
pub(crate) mod depth;
pub(crate) mod evals;
pub(crate) mod evidence;
pub(crate) mod grader;
pub(crate) mod interpolation;
pub(crate) mod judge;
pub(crate) mod messages;
pub(crate) mod outcome;
pub(crate) mod progress;
pub(crate) mod recorder;
pub(crate) mod score;
pub(crate) mod suite;
pub(crate) mod suite_location;
pub(crate) mod trial;
#[cfg_attr(not(feature = "users"), path = "without_users.rs")]
pub(crate) mod user;
