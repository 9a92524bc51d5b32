//! Where suites, packages and runs are.

pub(crate) mod includes;
pub(crate) mod stored_runs;
pub(crate) mod suite_search;
