//! What users see of evalsuite: packages of theirs, built and run by the real cargo.

#[cfg(unix)]
mod agents;
mod arguments;
mod broken;
mod calibration;
#[cfg(unix)]
mod cli_agents;
mod coordination;
mod dynamic;
#[cfg(unix)]
mod faults;
mod freshness;
mod generated;
mod hooks;
mod judging;
mod outcomes;
mod placement;
mod published;
mod recordings;
mod strictness;
mod tracking;
mod without_build_script;
