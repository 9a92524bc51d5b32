//! What tests of one run agree upon, be they threads of one process or processes of their own.
//!
//! All of it stands on advisory locks on files below `locks/` of the run directory. The operating system frees them when
//! a process dies; their age says nothing, and a lock file that is left behind locks nothing.

pub(crate) mod ledger;
pub(crate) mod once;
pub(crate) mod slots;

pub(crate) use crate::record::coordination::{
    ledger::{Ledger, Spend},
    once::once,
    slots::Slot,
};
