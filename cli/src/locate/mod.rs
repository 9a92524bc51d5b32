//! Where suites, packages and runs are.

pub(crate) mod includes;
pub(crate) mod probes;
pub(crate) mod shown_path;
pub(crate) mod stored_runs;
pub(crate) mod suite_request;
pub(crate) mod suite_search;
pub(crate) mod workspace_packages;
