//! Tests of the crate from outside, in one program to link.

#[cfg(all(unix, feature = "acp"))]
mod acp;
mod answer_pairs;
mod calibrated_runs;
mod calibration;
mod canary;
#[cfg(feature = "capture")]
mod captured;
mod cli_agents;
#[cfg(target_os = "linux")]
mod clock_jumps;
#[cfg(all(feature = "macros", feature = "cli-agents"))]
mod command_agent;
mod command_judges;
mod common;
mod comparing_graders;
mod conversations;
mod dependencies;
mod early_ends;
mod failing_test;
mod grader_examples;
mod graders;
mod graders_that_ask;
#[cfg(unix)]
mod hostile_agents;
#[cfg(all(unix, feature = "cli-agents"))]
mod inherited;
mod judge_evidence;
mod judges;
mod life_of_a_trial;
mod limits;
mod parallel_trials;
mod progress;
mod protocols;
mod recordings;
mod replays;
mod reported_fields;
mod run_record;
#[cfg(all(any(target_os = "linux", windows), feature = "cli-agents"))]
mod runner_death;
#[cfg(all(unix, feature = "cli-agents"))]
mod sealed;
mod secrets;
mod shared_runtime;
mod shells;
mod signatures;
#[cfg(feature = "users")]
mod simulated_users;
#[cfg(feature = "capture")]
mod span_sources;
#[cfg(unix)]
mod started_programs;
mod suite_check;
mod summary;
mod trajectories;
mod unchanged_cases;
mod workspaces;
