//! What every command stands on: processes, the terminal, JSON, and how commands end.

pub(crate) mod cargo_process;
pub(crate) mod exit_status;
pub(crate) mod json_output;
pub(crate) mod line_width;
pub(crate) mod pager;
pub(crate) mod progress;
