//! Agents that fail, processes that are killed, a full disk: what is recorded, and what is left behind.

mod failing_agents;
#[cfg(target_os = "linux")]
mod full_disk;
mod killed_processes;
mod leftover_programs;
