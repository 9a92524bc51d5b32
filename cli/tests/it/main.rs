//! The command line, run as a process. One program: each test program is linked on its own.

#[cfg(unix)]
mod agent_skills;
mod baseline_walk;
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
#[cfg(unix)]
mod killed_runs;
mod lift;
mod line_breaks;
mod list;
mod lsp;
#[cfg(unix)]
mod mcp_proxy;
#[cfg(unix)]
mod mcp_servers;
mod merge;
mod mistakes;
mod new;
mod package;
mod probe;
mod record;
#[cfg(unix)]
mod record_places;
mod regrade;
mod report;
#[cfg(unix)]
mod run;
mod runner_attempts;
#[cfg(unix)]
mod same_names;
#[cfg(unix)]
mod saw_answers;
mod schema;
#[cfg(unix)]
mod shards;
mod shell;
mod show;
#[cfg(unix)]
mod until_decided;
#[cfg(unix)]
mod walk;
#[cfg(target_os = "linux")]
mod watch;
mod which_agent;
