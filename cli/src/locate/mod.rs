//! Where suites, runs and baselines are.

pub(crate) mod baselines;
pub(crate) mod includes;
pub(crate) mod shown_path;
pub(crate) mod stored_runs;
pub(crate) mod suite_request;
pub(crate) mod suite_search;
