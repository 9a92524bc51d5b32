//! Commands that editors, shells and other programs use.

pub(crate) mod completions;
pub(crate) mod lsp;
pub(crate) mod man;
pub(crate) mod schema;
