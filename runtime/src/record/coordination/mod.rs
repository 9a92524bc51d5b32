//! Coordination between the tests of a run, which are threads of one process or separate processes.
//!
//! It uses advisory locks on files in `locks/` of the run directory. The operating system releases them when a process
//! dies. The age of a lock file has no meaning, and a remaining file without a lock has no effect.

pub(crate) mod ledger;
pub(crate) mod run_once;
pub(crate) mod trial_slot;

pub(crate) use crate::record::coordination::ledger::{Ledger, Spend};
pub(crate) use crate::record::coordination::run_once::run_once;
pub(crate) use crate::record::coordination::trial_slot::Slot;
