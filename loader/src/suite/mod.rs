//! Suites: their gates, and the checks across all cases and files.

pub(crate) mod cross_check;
pub(crate) mod symlink_check;
pub(crate) mod unused_files;
