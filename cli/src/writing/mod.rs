//! Commands that write and check suites.

pub(crate) mod check;
#[cfg(feature = "convert")]
pub(crate) mod convert;
pub(crate) mod explain;
mod feature_differences;
pub(crate) mod fixes;
pub(crate) mod new;
#[cfg(any(feature = "lsp", feature = "watch"))]
pub(crate) mod saved_cases;
mod tool_names;
