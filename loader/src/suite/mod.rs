//! Suites: which file of a directory describes one, what that file says, and what only all cases together can show.

pub(crate) mod cross_check;
pub(crate) mod entry;
pub(crate) mod eval_file;
pub(crate) mod suite_json;
