//! Suites: their gates, and the checks across all cases and files.

pub(crate) mod answers_in_reach;
pub(crate) mod cross_check;
pub(crate) mod gates;
pub(crate) mod linked_directories;
pub(crate) mod unused_files;
