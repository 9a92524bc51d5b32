//! What all commands share: processes, what test programs print, the terminal, JSON, and how commands end.

pub(crate) mod cargo_process;
pub(crate) mod exit_status;
#[cfg(any(feature = "mcp", feature = "record"))]
pub(crate) mod json_difference;
pub(crate) mod output;
pub(crate) mod pager;
#[cfg(any(feature = "lsp", feature = "watch"))]
pub(crate) mod test_output;
