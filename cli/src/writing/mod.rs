//! Commands that write and check suites.

pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod explain;
mod feature_differences;
pub(crate) mod fixes;
pub(crate) mod new;
pub(crate) mod saved_cases;
mod tool_names;
