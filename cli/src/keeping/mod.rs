//! Commands that complete, merge and remove stored runs.

pub(crate) mod clean;
pub(crate) mod finish;
pub(crate) mod merge;
