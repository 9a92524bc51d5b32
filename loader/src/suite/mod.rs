//! Suites: which file of a directory describes one, its contents, and the checks across all cases.

pub(crate) mod cross_check;
pub(crate) mod entry;
pub(crate) mod eval_file;
pub(crate) mod gates;
pub(crate) mod linked_directories;
mod no_suite_file;
pub(crate) mod suite_json;
pub(crate) mod unused_files;
