//! The command line, run as a process. One program: each test program is linked on its own.

#[cfg(unix)]
mod agent_skills;
mod baselines;
mod calibrate;
mod check;
#[cfg(target_os = "linux")]
mod check_large;
mod claims;
mod clean;
mod convert;
#[cfg(unix)]
mod convert_outside;
mod diff;
mod diff_judge;
mod expand;
mod explain;
mod finish;
mod full_disk;
mod gate;
mod health;
#[cfg(unix)]
mod hostile_runs;
mod human_output;
mod lift;
mod list;
mod lsp;
#[cfg(unix)]
mod mcp_proxy;
mod merge;
mod mistakes;
mod package;
mod regrade;
mod report;
mod runner_attempts;
mod schema;
mod shell;
mod show;
mod throwaway;
