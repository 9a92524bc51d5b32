//! Commands for editors, shells and other programs.

pub(crate) mod completions;
pub(crate) mod expand;
pub(crate) mod lsp;
pub(crate) mod man;
pub(crate) mod schema;
