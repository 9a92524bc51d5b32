//! Commands that show suites and runs.

pub(crate) mod health;
pub(crate) mod list;
pub(crate) mod report;
pub(crate) mod show;
