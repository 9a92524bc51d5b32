//! Tests that build packages: `cargo nextest run` leaves them out, `.ci/run` runs them.

mod baseline_walk;
#[cfg(unix)]
mod killed_runs;
mod line_breaks;
#[cfg(unix)]
mod mcp_servers;
mod new;
mod probe;
mod record;
#[cfg(unix)]
mod record_places;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod same_names;
#[cfg(unix)]
mod saw_answers;
#[cfg(unix)]
mod shards;
#[cfg(unix)]
mod until_decided;
#[cfg(unix)]
mod walk;
#[cfg(target_os = "linux")]
mod watch;
mod which_agent;
