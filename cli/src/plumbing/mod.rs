//! Commands for editors, shells and other programs.

pub(crate) mod expand;
#[cfg(feature = "lsp")]
pub(crate) mod lsp;
pub(crate) mod schema;
pub(crate) mod shell_files;
