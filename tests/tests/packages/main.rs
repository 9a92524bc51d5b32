//! End-to-end tests: packages that use evalsuite as users do, built and run by the real cargo.

#[cfg(unix)]
mod acp_agents;
#[cfg(unix)]
mod agent_lookup;
mod agent_skills;
mod arguments;
mod broken_suites;
mod calibration;
#[cfg(unix)]
mod cli_agents;
mod command_features;
mod coordination;
mod dynamic_library;
mod facade;
#[cfg(unix)]
mod faults;
mod generated;
mod hooks;
mod judging;
mod macro_placement;
mod new_grader;
#[cfg(unix)]
mod newer_suites;
mod outcomes;
mod published_crates;
#[cfg(unix)]
mod readme;
mod rebuilds;
mod recordings;
mod reload;
#[cfg(target_os = "linux")]
mod runs_of_cargo;
mod same_agent;
mod simulated_users;
mod strict_crates;
#[cfg(target_os = "linux")]
mod terminal;
mod tracking;
mod without_build_script;
