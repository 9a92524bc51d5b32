//! The campaign of attacks: mutated inputs for everything that reads files, test processes that are killed, system calls that
//! fail, and agents that misbehave. `README.md` says how to run it.

// Signals, pipes and links are those of Unix.
#![cfg(unix)]

mod attacks;
mod campaign;
mod consistency;
mod faults;
mod findings;
mod fuzz;
mod kills;
mod reruns;
mod runs;
#[cfg(target_os = "linux")]
mod seal;
mod static_suite;
mod victim;

pub use self::attacks::attack;
pub use self::campaign::{Extent, LONG, PARTS, SHORT, Table, fuzz_targets, run};
pub use self::fuzz::{Job, replay, work};
pub use self::runs::read_run;
#[cfg(target_os = "linux")]
pub use self::seal::{try_seal, try_seals};
pub use self::victim::run as run_victim;
