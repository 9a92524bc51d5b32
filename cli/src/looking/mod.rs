//! Commands that show results and compare them.

pub(crate) mod accept;
pub(crate) mod diff;
pub(crate) mod gate;
pub(crate) mod health;
pub(crate) mod list;
pub(crate) mod report;
pub(crate) mod show;
